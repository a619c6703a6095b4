import { type LogPosition, logPosition } from '@engram/core';
import type { Snapshot } from '@engram/tikv-client';
import { type BatchPart, decodeBatch, type StoredBatch } from './batch-format.ts';
import type { Chain } from './chain.ts';
import type { LogIndex } from './log-index.ts';
import { corrupt, type LogRow, type LogSource, partOf, scanLog } from './log-source.ts';
import { findTail } from './log-tail.ts';

export interface ReadRange {
  readonly from: LogPosition;
  /** Where to stop: what the reader knows to be there. Undefined: where the log ends when the read begins. */
  readonly end?: LogPosition | undefined;
  /** What the log was before `from`, where that is known: what is read must continue it. */
  readonly chain?: Chain | undefined;
}

/** Batches are some 64 KiB, and may be 4 MiB: a page is between half a megabyte and 32. */
const PAGE_ROWS = 8;

/** The log in TiKV is not the one that the reader knew: TiKV was restored, or the prefix was given to another. */
export class ChainMismatch extends Error {
  override readonly name = 'ChainMismatch';
}

/**
 * The batches from the one that holds `from` on, whole and verified: each value, each chain, and that each continues the
 * one before. Rejects with StorageCorruptError, ChainMismatch, or an error of the client.
 *
 * A snapshot may show a batch and not the one before it (see `findTail`); that one was acknowledged before the other was
 * sent, so a later snapshot has it. Only what is missing twice is damage.
 */
export async function* readBatches(
  source: LogSource,
  index: LogIndex,
  range: ReadRange,
  signal: AbortSignal,
): AsyncGenerator<StoredBatch> {
  let { from: position, end, chain } = range;
  for (let missing = 0; missing < 2; missing += 1) {
    const snapshot = await source.client.snapshot({ signal, timeoutMs: source.timeoutMs, notFillCache: true });
    const tail = await findTail(source, snapshot, signal);
    end ??= tail.next;
    if (position > end) throw corrupt(source, `the log ends before ${end}, and ${position} is asked for`);
    if (position === end) return;
    const begin = await index.locate(snapshot, tail, position, signal);
    if (begin === undefined) continue;
    const start = source.keys.slot(begin.segment, begin.first);
    for await (const batch of batchesFrom(source, snapshot, start, signal)) {
      const next = logPosition(batch.first + batch.records.length);
      if (next <= position) continue;
      if (batch.first > position) break;
      if (chain !== undefined && batch.first === position && batch.header.previous !== chain) {
        throw new ChainMismatch(`the batch at ${position} of ${source.name} does not continue what is known`);
      }
      yield batch;
      missing = -1;
      chain = batch.header.chain;
      position = next;
      if (position >= end) return;
    }
  }
  throw corrupt(source, `record ${position} is missing`);
}

/** As the snapshot shows them; what its writer did not finish is left out, as is what lacks a part. */
export async function* batchesFrom(
  source: LogSource,
  snapshot: Snapshot,
  start: Uint8Array,
  signal: AbortSignal,
): AsyncGenerator<StoredBatch> {
  let parts: BatchPart[] = [];
  const range = { start, end: source.keys.logEnd };
  for await (const row of scanLog(source, snapshot, range, { pageRows: PAGE_ROWS, signal })) {
    if (row.key.kind === 'seal') {
      parts = [];
      continue;
    }
    const part = partOf(source, row);
    if (part.header.part === 0) parts = [];
    if (!continues(parts, part)) continue;
    parts.push(part);
    if (parts.length === part.header.parts) yield wholeBatch(source, row, parts);
  }
}

/** The batch of all these parts; anything else is damage. `row`: the last of them. */
export function wholeBatch(source: LogSource, { key }: Pick<LogRow, 'key'>, parts: readonly BatchPart[]): StoredBatch {
  const batch = decodeBatch(parts, true);
  if (batch !== undefined) return batch;
  throw corrupt(source, `the batch at ${parts[0]!.header.first} in segment ${key.segment} is damaged`);
}

function continues(parts: readonly BatchPart[], { header }: BatchPart): boolean {
  const first = parts[0]?.header;
  if (first === undefined) return header.part === 0;
  return header.part === parts.length && header.chain === first.chain && header.parts === first.parts;
}

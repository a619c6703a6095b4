import type { LogPosition } from '@engram/core';
import { endOf } from '@engram/storage';
import type { Snapshot } from '@engram/tikv-client';
import { type BatchPart, decodeBatch, type StoredBatch } from '../format/batch-format.ts';
import type { Chain } from '../format/chain.ts';
import type { BatchLocator } from './batch-locator.ts';
import { corrupt, type LogRow, type LogSource, partOf, scanLog } from './log-source.ts';
import { lookAtTail } from './log-tail.ts';

export interface ReadRange {
  readonly from: LogPosition;
  /** Where to stop; the log must reach this position. Undefined: where the log ends when the read begins. */
  readonly end?: LogPosition | undefined;
  /** The chain of the log before `from`, if known. The batches must continue it. */
  readonly chain?: Chain | undefined;
}

/** Rows in a page of a scan. Batches have about 64 KiB, and up to 4 MiB: a page has between half a MiB and 32 MiB. */
const PAGE_ROWS = 8;

/** The log in TiKV is not the one that the reader knew: TiKV was restored, or the prefix was given to another cluster. */
export class ChainMismatch extends Error {
  override readonly name = 'ChainMismatch';
}

/**
 * Yields whole batches, beginning with the one that holds `from`. It verifies each value, each chain, and that each batch
 * continues the one before. Rejects with StorageCorruptError, ChainMismatch, or an error of the client.
 *
 * A snapshot may show a batch but not the one before it (see `findTail`). The earlier batch was acknowledged before the later
 * one was sent, so a later snapshot shows it. A batch that two snapshots in a row do not show is damage.
 */
export async function* readBatches(
  source: LogSource,
  index: BatchLocator,
  range: ReadRange,
  signal: AbortSignal,
): AsyncGenerator<StoredBatch> {
  let { from: position, end, chain } = range;
  for (let missing = 0; missing < 2; missing += 1) {
    const { snapshot, tail } = await lookAtTail(source, signal, { notFillCache: true });
    end ??= tail.next;
    if (position > end) throw corrupt(source, `the log ends before ${end}, and ${position} is asked for`);
    if (position === end) return;
    const begin = await index.locate(snapshot, tail, position, signal);
    if (begin === undefined) continue;
    const start = source.keys.slot(begin.segment, begin.first);
    for await (const batch of batchesFrom(source, snapshot, start, signal)) {
      const next = endOf(batch);
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

/** Yields the batches as the snapshot shows them. Skips batches that their writer did not finish or that lack a part. */
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

/** Decodes a batch from all its parts, and throws StorageCorruptError if it is damaged. The key is that of its last part. */
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

import { logPosition } from '@engram/core';
import type { Snapshot } from '@engram/tikv-client';
import type { BatchHeader } from '../format/batch-format.ts';
import { type LogSource, ownerOf, partOf, readImageRoot, sealOf, searchLog } from './log-source.ts';
import { checkEnd } from './hidden-from.ts';
import type { EpochBirth, LogMark, SegmentOwner } from '../format/seal-record.ts';

/** Where the log ends, as one snapshot shows it. */
export interface LogTail extends LogMark {
  /** The segment that is appended to. It is not sealed. */
  readonly segment: number;
  readonly owner: SegmentOwner;
  /** The last batch of the log; undefined if the log has none, or the snapshot's last one is deleted. */
  readonly last: BatchHeader | undefined;
}

/** A view of the log, and where the log ends in it. */
export interface LogView {
  readonly snapshot: Snapshot;
  readonly tail: LogTail;
}

export interface LookOptions {
  /** The timeout of the snapshot's timestamp; the source's if absent. */
  readonly timeoutMs?: number;
  readonly notFillCache?: boolean;
}

/** Rows in one answer. The first row is enough, unless a segment is empty or a batch was not finished. */
const ROWS = 2;
/** After so many rows without the end of a batch, the root says how far back a batch may be. */
const BLIND_ROWS = 16;

/**
 * Takes a snapshot, and finds the end of the log in it. If this process stands still meanwhile, a trim may delete what the
 * snapshot shows. Then the end is too early, but the owner is right, and nothing is left to be read up to the right end.
 */
export async function lookAtTail(source: LogSource, signal: AbortSignal, options: LookOptions = {}): Promise<LogView> {
  const { timeoutMs = source.timeoutMs, notFillCache = false } = options;
  const snapshot = await source.client.snapshot({ signal, timeoutMs, notFillCache });
  return { snapshot, tail: await findTail(source, snapshot, signal) };
}

/**
 * The end of the log up to the end of a sealed segment, at a new timestamp. Undefined if the log was trimmed beyond that
 * segment, so that this is not known any more: then another storage has sealed a later one. Throws StorageTimestampError if the
 * timestamp hides a batch; `before`: the epoch that the refusal names.
 */
export async function tailOfSealed(
  source: LogSource,
  segment: number,
  before: EpochBirth,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<LogTail | undefined> {
  const snapshot = await source.client.snapshot({ signal, timeoutMs });
  const tail = await findTail(source, snapshot, signal, segment);
  await checkEnd(source, segment, tail, before, timeoutMs, signal);
  // A deletion does not wait for snapshots, so this is read behind the tail.
  return (await readImageRoot(source, signal)).segment > segment ? undefined : tail;
}

/**
 * Finds the end of the log, or of the log up to the end of `lastSegment`. It ignores a batch that its writer did not finish.
 *
 * A snapshot shows every batch that was acknowledged before its timestamp was taken. It also shows every batch that was
 * written before a seal, if the seal was seen before the timestamp was taken. Of concurrent writes, it may show a later one
 * without an earlier one, because commit timestamps of two regions do not follow the order of the commits.
 *
 * It reads from the end, so the seals of trimmed segments cost nothing, whatever their number.
 */
export async function findTail(
  source: LogSource,
  snapshot: Snapshot,
  signal: AbortSignal,
  lastSegment?: number,
): Promise<LogTail> {
  const { keys } = source;
  const end = lastSegment === undefined ? keys.logEnd : keys.segmentStart(lastSegment + 1);
  let place: { readonly segment: number; readonly owner: SegmentOwner } | undefined;
  let begin: LogMark | undefined;
  let rows = 0;
  let firstKept = 1;
  const range = { start: keys.logStart, end };
  for await (const row of searchLog(source, snapshot, range, { reverse: true, limit: ROWS, signal })) {
    const { key } = row;
    if (key.segment < firstKept) break;
    rows += 1;
    if (rows === BLIND_ROWS) firstKept = (await readImageRoot(source, signal)).segment;
    if (key.kind === 'seal') {
      const owner = sealOf(source, key.segment, row.value);
      place ??= { segment: key.segment + 1, owner };
      begin ??= owner.begin;
      continue;
    }
    const { header } = partOf(source, row);
    place ??= { segment: key.segment, owner: await ownerOf(source, snapshot, key.segment, signal) };
    if (header.part < header.parts - 1) continue;
    const next = logPosition(header.first + header.count);
    return { ...place, next, logBytes: header.logBytes, chain: header.chain, last: header };
  }
  place ??= { segment: 1, owner: await ownerOf(source, snapshot, 1, signal) };
  const mark = begin ?? { next: logPosition(1), logBytes: 0, chain: source.empty };
  return { ...place, ...mark, last: undefined };
}

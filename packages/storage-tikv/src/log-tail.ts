import { logPosition } from '@engram/core';
import type { Snapshot } from '@engram/tikv-client';
import type { BatchHeader } from './batch-format.ts';
import { type LogSource, ownerOf, partOf, sealOf, searchLog } from './log-source.ts';
import type { LogMark, SegmentOwner } from './seal-record.ts';

/** Where the log ends, as one snapshot shows it. */
export interface LogTail extends LogMark {
  /** The segment that is appended to. It is not sealed. */
  readonly segment: number;
  readonly owner: SegmentOwner;
  /** The last batch of the log; undefined if the log has none, or none any more. */
  readonly last: BatchHeader | undefined;
}

/** Rows in one answer. The first row is enough, unless a segment is empty or a batch was not finished. */
const ROWS = 2;

/**
 * Finds the end of the log, or of the log up to the end of `lastSegment`. It ignores a batch that its writer did not finish.
 *
 * A snapshot shows every batch that was acknowledged before its timestamp was taken. It also shows every batch that was
 * written before a seal, if the seal was seen before the timestamp was taken. Of concurrent writes, it may show a later one
 * without an earlier one, because commit timestamps of two regions do not follow the order of the commits.
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
  const range = { start: keys.logStart, end };
  for await (const row of searchLog(source, snapshot, range, { reverse: true, limit: ROWS, signal })) {
    const { key } = row;
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

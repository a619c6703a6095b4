import { FRAME_HEADER_BYTES, SEGMENT_BYTES_MAX, SEGMENT_HEADER_BYTES } from './layout.ts';

/** What the choice of segments to clean depends on. */
export interface Candidate {
  /** Sealed, before the checkpoint, not damaged. */
  readonly cleanable: boolean;
  readonly first: number;
  /** The position behind the last record. */
  readonly next: number;
  readonly bytes: number;
  readonly liveRecords: number;
  readonly liveBytes: number;
  readonly deadBytes: number;
}

/** Neighbours, by index, that become one. */
export interface CleaningRun {
  readonly from: number;
  readonly to: number;
}

/** How much of a segment is garbage before it is worth rewriting: most of it, or any that frees something. */
export type Worth = 'most' | 'any';
const DEAD_SHARE_MIN: Readonly<Record<Worth, number>> = { most: 0.5, any: 0.05 };

/** Smaller than this part of a full one, a segment is merged with its neighbours, */
const SMALL_SHARE = 1 / 8;
/** when so many stand together, or with one that is rewritten anyway. */
const SMALL_RUN_MIN = 8;
const SPAN_MAX = 2 ** 32;

/**
 * The run that frees most for what it costs; undefined where none is worth it. What is live in it fits into one segment
 * of `segmentBytes`. A segment that is more than half garbage is always in some run, so garbage does not outgrow what
 * is live; with `any` none of it is left to speak of.
 */
export function planCleaning(
  candidates: readonly Candidate[],
  segmentBytes: number,
  worth: Worth,
): CleaningRun | undefined {
  let best: CleaningRun | undefined;
  let bestGain = 0;
  for (let from = 0; from < candidates.length; ) {
    const run = runFrom(candidates, from, segmentBytes, DEAD_SHARE_MIN[worth]);
    const gain = run.deadBytes / (run.liveBytes + 1);
    if (run.worth && (best === undefined || gain > bestGain)) {
      best = { from, to: run.to };
      bestGain = gain;
    }
    from = Math.max(run.to, from + 1);
  }
  return best;
}

function runFrom(
  candidates: readonly Candidate[],
  from: number,
  segmentBytes: number,
  deadShare: number,
): { readonly to: number; readonly worth: boolean; readonly liveBytes: number; readonly deadBytes: number } {
  let to = from;
  let liveBytes = 0;
  let deadBytes = 0;
  let rewrittenMax = SEGMENT_HEADER_BYTES;
  let worth = false;
  for (; to < candidates.length; to += 1) {
    const next = candidates[to]!;
    if (!isCandidate(next, segmentBytes, deadShare) || next.next - candidates[from]!.first >= SPAN_MAX) break;
    // At worst each record is a frame of its own.
    rewrittenMax += next.liveBytes + next.liveRecords * FRAME_HEADER_BYTES;
    if (rewrittenMax > SEGMENT_BYTES_MAX || (to > from && liveBytes + next.liveBytes > segmentBytes)) break;
    liveBytes += next.liveBytes;
    deadBytes += next.deadBytes;
    worth ||= isSparse(next, deadShare);
  }
  return { to, worth: worth || to - from >= SMALL_RUN_MIN, liveBytes, deadBytes };
}

function isSparse({ liveBytes, deadBytes }: Candidate, deadShare: number): boolean {
  return deadBytes > (liveBytes + deadBytes) * deadShare;
}

function isCandidate(candidate: Candidate, segmentBytes: number, deadShare: number): boolean {
  return candidate.cleanable && (isSparse(candidate, deadShare) || candidate.bytes < segmentBytes * SMALL_SHARE);
}

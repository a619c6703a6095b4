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

/** Smaller than this part of a full one, a segment is merged with its neighbours, */
const SMALL_SHARE = 1 / 8;
/** when so many stand together, or with one that is rewritten anyway. */
const SMALL_RUN_MIN = 8;
const SPAN_MAX = 2 ** 32;

/**
 * The run that frees most for what it costs; undefined where none is worth it. What is live in it fits into one segment
 * of `segmentBytes`. A segment that is more than half garbage is always in some run, so garbage does not outgrow what
 * is live.
 */
export function planCleaning(candidates: readonly Candidate[], segmentBytes: number): CleaningRun | undefined {
  let best: CleaningRun | undefined;
  let bestGain = 0;
  for (let from = 0; from < candidates.length; ) {
    const run = runFrom(candidates, from, segmentBytes);
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
): { readonly to: number; readonly worth: boolean; readonly liveBytes: number; readonly deadBytes: number } {
  let to = from;
  let liveBytes = 0;
  let deadBytes = 0;
  let rewrittenMax = SEGMENT_HEADER_BYTES;
  let worth = false;
  for (; to < candidates.length; to += 1) {
    const next = candidates[to]!;
    if (!isCandidate(next, segmentBytes) || next.next - candidates[from]!.first >= SPAN_MAX) break;
    // At worst each record is a frame of its own.
    rewrittenMax += next.liveBytes + next.liveRecords * FRAME_HEADER_BYTES;
    if (rewrittenMax > SEGMENT_BYTES_MAX || (to > from && liveBytes + next.liveBytes > segmentBytes)) break;
    liveBytes += next.liveBytes;
    deadBytes += next.deadBytes;
    worth ||= isSparse(next);
  }
  return { to, worth: worth || to - from >= SMALL_RUN_MIN, liveBytes, deadBytes };
}

function isSparse({ liveBytes, deadBytes }: Candidate): boolean {
  return deadBytes > liveBytes;
}

function isCandidate(candidate: Candidate, segmentBytes: number): boolean {
  return candidate.cleanable && (isSparse(candidate) || candidate.bytes < segmentBytes * SMALL_SHARE);
}

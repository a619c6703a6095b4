import { MARKED_FRAME_HEADER_BYTES, SEGMENT_BYTES_MAX, SEGMENT_HEADER_BYTES } from '../format/layout.ts';

/** What the choice of segments to clean depends on. */
export interface Candidate {
  /** Whether it is sealed, before the checkpoint, and not damaged. */
  readonly cleanable: boolean;
  readonly first: number;
  /** The position after the last record. */
  readonly next: number;
  readonly bytes: number;
  readonly liveRecords: number;
  readonly liveBytes: number;
  readonly deadBytes: number;
}

/** Neighbours, by index, that become one segment. */
export interface CleaningRun {
  readonly from: number;
  readonly to: number;
}

/** How much garbage makes a segment worth rewriting: `most` of it, or `any` that frees something. */
export type Worth = 'most' | 'any';
const DEAD_SHARE_MIN: Readonly<Record<Worth, number>> = { most: 0.5, any: 0.05 };

/** A segment smaller than this part of a full one is merged with its neighbours, see SMALL_RUN_MIN. */
const SMALL_SHARE = 1 / 8;
/** This many small neighbours are merged, or fewer beside a segment that is rewritten anyway. */
const SMALL_RUN_MIN = 8;
const SPAN_MAX = 2 ** 32;

/**
 * The run that frees most for its cost; undefined if none is worth it. Its live records fit into one segment of
 * `segmentBytes`. A segment that is more than half garbage is always in some run, so garbage never outgrows what is
 * live. With `any`, hardly any garbage is left.
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
    // In the worst case each record becomes a frame of its own.
    rewrittenMax += next.liveBytes + next.liveRecords * MARKED_FRAME_HEADER_BYTES;
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

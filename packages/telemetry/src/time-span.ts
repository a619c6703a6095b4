export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * The parts of the time from `fromMs` to `toMs` that no span of `taken` covers, in order. `taken` may overlap and be in
 * any order.
 */
export function freeSpans(fromMs: number, toMs: number, taken: readonly TimeSpan[]): TimeSpan[] {
  const free: TimeSpan[] = [];
  let atMs = fromMs;
  for (const span of taken.toSorted((left, right) => left.fromMs - right.fromMs)) {
    if (span.fromMs > atMs) free.push({ fromMs: atMs, toMs: Math.min(span.fromMs, toMs) });
    atMs = Math.max(atMs, span.toMs);
    if (atMs >= toMs) return free;
  }
  free.push({ fromMs: atMs, toMs });
  return free;
}

/** The last `ms` of `spans`, which must be in order. Returns all spans if they are shorter in total. */
export function lastOf(spans: readonly TimeSpan[], ms: number): TimeSpan[] {
  const last: TimeSpan[] = [];
  let leftMs = ms;
  for (let at = spans.length - 1; at >= 0 && leftMs > 0; at -= 1) {
    const { fromMs, toMs } = spans[at]!;
    last.unshift({ fromMs: Math.max(fromMs, toMs - leftMs), toMs });
    leftMs -= toMs - fromMs;
  }
  return last;
}

/** Total overlap of the spans of the two lists. Spans within one list must not overlap. */
export function commonMs(these: readonly TimeSpan[], those: readonly TimeSpan[]): number {
  let ms = 0;
  for (const left of these) {
    for (const right of those) {
      ms += Math.max(0, Math.min(left.toMs, right.toMs) - Math.max(left.fromMs, right.fromMs));
    }
  }
  return ms;
}

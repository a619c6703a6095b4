import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';

/** A pause in which the collector of garbage had the thread, on the clock of `performance.now()`. */
export interface Collection {
  readonly fromMs: number;
  readonly toMs: number;
  /** Of the young generation only. */
  readonly young: boolean;
}

/** Tells of each pause, up to two turns of the event loop after it. Steps of marking beside the program are not told. */
export function observeCollections(take: (collection: Collection) => void): Disposable {
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { startTime: fromMs, duration } = entry;
      take({ fromMs, toMs: fromMs + duration, young: kindOf(entry) === constants.NODE_PERFORMANCE_GC_MINOR });
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return { [Symbol.dispose]: () => observer.disconnect() };
}

/** One of perf_hooks' NODE_PERFORMANCE_GC_* constants. */
function kindOf(entry: PerformanceEntry): number {
  const detail: unknown = 'detail' in entry ? entry.detail : undefined;
  return typeof detail === 'object' && detail !== null && 'kind' in detail ? Number(detail.kind) : 0;
}

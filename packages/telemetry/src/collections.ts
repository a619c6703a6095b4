import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';

/** A pause of the thread by the garbage collector, on the clock of `performance.now()`. */
export interface Collection {
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether it collected the young generation only. */
  readonly young: boolean;
}

/** Calls `take` for each pause, up to two turns of the event loop after it. Concurrent marking is not reported. */
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

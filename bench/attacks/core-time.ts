import { readFileSync } from 'node:fs';

/** The time that a request took. */
export interface Taken {
  readonly ms: number;
  /**
   * `ms` without the time in which the store's first thread, or this process's, was ready to run but had no core. At
   * least `cpuMs`.
   */
  readonly ownMs: number;
  /** CPU time of the store's first thread during the request, at most `ms`. */
  readonly cpuMs: number;
}

interface Scheduled {
  readonly ranMs: number;
  readonly waitedMs: number;
}

/**
 * Begins to measure a request from this process to the store. The returned function ends the measurement. The first
 * thread of a node is its event loop. For a store with many threads `ownMs` and `cpuMs` mean nothing.
 */
export function beginRequest(pid: number): () => Taken {
  const [store, here, startMs] = [scheduled(String(pid)), scheduled('self'), performance.now()];
  return () => {
    const ms = performance.now() - startMs;
    const [storeNow, hereNow] = [scheduled(String(pid)), scheduled('self')];
    const cpuMs = Math.min(ms, storeNow.ranMs - store.ranMs);
    const waitedMs = storeNow.waitedMs - store.waitedMs + hereNow.waitedMs - here.waitedMs;
    return { ms, cpuMs, ownMs: Math.max(cpuMs, ms - waitedMs) };
  };
}

/** Times of the first thread since it began. */
function scheduled(of: string): Scheduled {
  try {
    const [ranNs, waitedNs] = readFileSync(`/proc/${of}/schedstat`, 'utf8').split(' ');
    return { ranMs: Number(ranNs) / 1e6, waitedMs: Number(waitedNs) / 1e6 };
  } catch {
    return { ranMs: 0, waitedMs: 0 }; // the process has ended
  }
}

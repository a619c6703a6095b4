import { readFileSync } from 'node:fs';

/** What a request took of a client's time. */
export interface Taken {
  readonly ms: number;
  /** Without what the store's first thread, or the one here, was ready to run and had no core; at least `cpuMs`. */
  readonly ownMs: number;
  /** CPU time of the store's first thread meanwhile, at most `ms`. */
  readonly cpuMs: number;
}

interface Scheduled {
  readonly ranMs: number;
  readonly waitedMs: number;
}

/**
 * Begins to measure a request to the store with this process: what is returned ends it. The first thread of a node is its
 * event loop; a store that works on many threads is told nothing of.
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

/** Of the first thread, since it began. */
function scheduled(of: string): Scheduled {
  try {
    const [ranNs, waitedNs] = readFileSync(`/proc/${of}/schedstat`, 'utf8').split(' ');
    return { ranMs: Number(ranNs) / 1e6, waitedMs: Number(waitedNs) / 1e6 };
  } catch {
    return { ranMs: 0, waitedMs: 0 }; // it has ended
  }
}

import { type Clock, type Logger, sleep } from '@engram/core';
import { isMigrationError } from './migration-error.ts';

export interface LeaseRenewalOptions {
  /** With their TTLs, as they are now. */
  readonly leases: () => ReadonlyMap<bigint, number>;
  readonly keepAlive: (ids: readonly bigint[], signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const LOOK_MS = 500;
/** A lease is renewed so often in its time. */
const TIMES = 3;
/** In one exchange. */
const RENEWED_MAX = 10_000;

/**
 * Renews the leases of an etcd that follows, so that it ends none by itself: that would be a revision of its own. Until the signal
 * aborts; then it rejects with its reason. Rejects with MigrationError, but for `interrupted`.
 */
export async function renewLeases(
  { leases, keepAlive, clock, logger }: LeaseRenewalOptions,
  signal: AbortSignal,
): Promise<never> {
  const dueMs = new Map<bigint, number>();
  for (;;) {
    const all = leases();
    for (const id of dueMs.keys()) if (!all.has(id)) dueMs.delete(id);
    const nowMs = clock.nowMs();
    const since = (id: bigint): number => dueMs.get(id) ?? 0;
    // Those that are due for longest come first: with more than can be renewed in their time, none waits for ever.
    const due = [...all.keys()]
      .filter((id) => since(id) <= nowMs)
      .toSorted((left, right) => since(left) - since(right))
      .slice(0, RENEWED_MAX);
    try {
      if (due.length > 0) await keepAlive(due, signal);
      for (const id of due) dueMs.set(id, nowMs + ((all.get(id) ?? 0) * 1000) / TIMES);
    } catch (error) {
      signal.throwIfAborted();
      if (!isMigrationError(error, 'interrupted')) throw error;
      logger.warn({ error: error.message, leases: due.length }, 'leases are renewed again');
    }
    await sleep(clock, LOOK_MS, signal);
  }
}

import { type Clock, EngramError } from '@engram/core';

/** Half of etcd's default election timeout. */
export const CONFIRMED_WITHIN_MS = 500;
/** After so many confirmations that came late, the caller gives up. */
const LATE_MAX = 5;

/**
 * Resolves when a confirmation of the leadership has come within `withinMs` of the question. The answers that confirm a leader may
 * wait in its process while it is stopped: then they say that it led before. A read is right all the same, because it may count as
 * done at any moment since it came. A client that renews a lease counts the time from the answer, and another leader may have
 * revoked the lease meanwhile, so the question is asked again. Rejects with Timeout if it is late again and again.
 *
 * Members that have just answered a leader vote for no other one within an election timeout, so half of that is enough. A machine
 * that was suspended, so that its monotonic clock stood still, is not noticed.
 */
export async function confirmedLately(
  clock: Clock,
  withinMs: number,
  confirm: () => Promise<void> | undefined,
  first = confirm(),
): Promise<void> {
  let sinceMs = clock.nowMs();
  await first;
  for (let late = 0; clock.nowMs() - sinceMs > withinMs; late += 1) {
    if (late === LATE_MAX) throw new EngramError('Timeout');
    sinceMs = clock.nowMs();
    await confirm();
  }
}

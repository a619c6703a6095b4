import { type Clock, EngramError, type LeaseId, leaseId, NO_LEASE, type Random, type Revision } from '@engram/core';
import { type Lessor, MAX_TTL_SECONDS } from '@engram/lease';
import type { Origin } from './caller.ts';
import type { StoreObserver } from './observer.ts';
import type { PendingLeases } from './pending-leases.ts';
import type { LeaseView } from './store.ts';
import type { WritePath } from './write-path.ts';

export interface LeaseDecisionsOptions {
  readonly lessor: Lessor;
  readonly pending: PendingLeases;
  readonly writes: WritePath;
  readonly minTtlSeconds: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly observer: StoreObserver;
}

/**
 * Leases as the leader decides on them. A grant, a revoke and an expiry are writes; a renewal is none. Decisions look at
 * what is under way, answers only at what has taken effect.
 */
export class LeaseDecisions {
  readonly #options: LeaseDecisionsOptions;
  /** Revokes under way: who renews such a lease waits until it is gone. */
  readonly #revoking = new Map<LeaseId, Promise<Revision>>();

  constructor(options: LeaseDecisionsOptions) {
    this.#options = options;
  }

  async grant(wanted: LeaseId, ttlSeconds: number, origin: Origin | undefined): Promise<LeaseView> {
    const { pending, writes, minTtlSeconds, observer } = this.#options;
    if (ttlSeconds > MAX_TTL_SECONDS) throw new EngramError('LeaseTTLTooLarge');
    if (wanted !== NO_LEASE && pending.has(wanted)) {
      if (pending.isUndecided(wanted)) await writes.settled();
      throw new EngramError('LeaseExist');
    }
    writes.admit();
    const id = wanted === NO_LEASE ? this.#freeId() : wanted;
    const grantedTtlSeconds = Math.max(ttlSeconds, minTtlSeconds);
    const granted = writes.mark({ kind: 'lease-grant', id, ttlSeconds: grantedTtlSeconds }, origin);
    pending.decide(id, true);
    await granted;
    observer.leaseGranted?.(grantedTtlSeconds);
    return { id, grantedTtlSeconds, remainingSeconds: grantedTtlSeconds };
  }

  async revoke(id: LeaseId, origin?: Origin): Promise<Revision> {
    const { pending, writes, observer } = this.#options;
    if (!pending.has(id)) {
      if (pending.isUndecided(id)) await writes.settled();
      throw new EngramError('LeaseNotFound');
    }
    writes.admit();
    const revoked = writes.markAndDelete({ kind: 'lease-revoke', id }, pending.candidates(id), id, origin);
    pending.decide(id, false);
    this.#revoking.set(id, revoked);
    observer.leaseRevoked?.();
    try {
      return await revoked;
    } finally {
      if (this.#revoking.get(id) === revoked) this.#revoking.delete(id);
    }
  }

  /** The granted TTL, or 0. A lease past its deadline is ended first, so that nobody sees it after the 0. */
  keepAlive(id: LeaseId): number | Promise<number> {
    const { lessor, clock, pending, writes, observer } = this.#options;
    const ttlSeconds = lessor.renew(id, clock.nowMs());
    if (ttlSeconds !== undefined) {
      observer.leaseRenewed?.();
      return ttlSeconds;
    }
    if (!lessor.has(id)) return 0;
    // Where its end is under way, its id may be another lease's by now.
    const gone = this.#revoking.get(id) ?? (pending.isUndecided(id) ? writes.settled() : this.revoke(id));
    return gone === undefined ? 0 : gone.then(() => 0);
  }

  /** Ends a lease whose time is over. False: its end is under way, and its id may be another lease's by now. */
  async expire(id: LeaseId): Promise<boolean> {
    if (this.#options.pending.isUndecided(id)) return false;
    await this.revoke(id);
    return true;
  }

  timeToLive(id: LeaseId): LeaseView | undefined {
    const { lessor, clock } = this.#options;
    const lease = lessor.get(id);
    if (lease === undefined) return undefined;
    const remainingMs = lessor.remainingMs(id, clock.nowMs()) ?? 0;
    return { id, grantedTtlSeconds: lease.ttlSeconds, remainingSeconds: Math.floor(remainingMs / 1000) };
  }

  #freeId(): LeaseId {
    const { random, pending, lessor } = this.#options;
    for (;;) {
      // 63 bits: positive for those who read it as signed.
      const id = leaseId((BigInt(random.uint32() >>> 1) << 32n) | BigInt(random.uint32()));
      if (id !== NO_LEASE && !pending.has(id) && !lessor.has(id)) return id;
    }
  }
}

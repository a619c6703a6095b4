import {
  type Clock,
  EngramError,
  type ErrorCode,
  isEngramError,
  type LeaseId,
  leaseId,
  NO_LEASE,
  type Random,
  type Revision,
  sleep,
} from '@engram/core';
import { type Lessor, MAX_TTL_SECONDS } from '@engram/lease';
import type { Job } from '@engram/loop';
import type { DecidedAuth } from '../auth/decided-auth.ts';
import { permitUser } from '../auth/permits.ts';
import { type Caller, nodeItself } from '../caller.ts';
import type { Decided } from '../decide/write.ts';
import type { StoreObserver } from '../observer.ts';
import type { PendingLeases } from '../answer/pending-leases.ts';
import { LEASE_COST_BYTES } from '../quota.ts';
import type { LeaseView } from '../store.ts';
import type { WritePath } from '../write/write-path.ts';

export interface LeaseDecisionsOptions {
  readonly lessor: Lessor;
  readonly pending: PendingLeases;
  readonly auth: DecidedAuth;
  readonly writes: WritePath;
  readonly minTtlSeconds: number;
  /** The most leases, those included that are being granted. */
  readonly leasesMax: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly observer: StoreObserver;
  /** That alarm is raised: no lease ends. */
  readonly isCorrupt: () => boolean;
  /** Bound on the wait of a keep-alive for the end of its lease: etcd's request timeout. */
  readonly timeoutMs: number;
}

/** The pause between two looks whether a lease is gone. */
const GONE_LOOK_MS = 500;
/** How an end of a lease fails that leaves the lease, and says nothing of a renewal that waits for it. */
const leavesLease: ReadonlySet<ErrorCode> = new Set([
  'Corrupt',
  'Timeout',
  // Its caller may not end the lease.
  'UserEmpty',
  'UserNotFound',
  'AuthOldRevision',
  'PermissionDenied',
]);

/**
 * The leader's decisions on leases. A grant, a revoke and an expiry are writes; a renewal is not. Decisions see
 * changes under way. Answers show only what has taken effect.
 */
export class LeaseDecisions {
  readonly #options: LeaseDecisionsOptions;
  /** Revokes under way. A renewal of such a lease waits until the lease is gone. */
  readonly #revoking = new Map<LeaseId, Promise<unknown>>();

  constructor(options: LeaseDecisionsOptions) {
    this.#options = options;
  }

  /** Errors: LeaseTTLTooLarge, LeaseExist, TooManyRequests. */
  async grant(wanted: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView> {
    if (ttlSeconds > MAX_TTL_SECONDS) throw new EngramError('LeaseTTLTooLarge');
    return this.#options.writes.decide(() => this.#granting(wanted, ttlSeconds, caller), LEASE_COST_BYTES, caller);
  }

  #granting(wanted: LeaseId, ttlSeconds: number, caller: Caller): Decided<LeaseView> {
    const { lessor, pending, auth, writes, minTtlSeconds, leasesMax, observer } = this.#options;
    if (auth.enabled) permitUser(auth.state, caller);
    if (wanted !== NO_LEASE && pending.has(wanted)) throw new EngramError('LeaseExist');
    writes.admit();
    if (lessor.size + pending.changing >= leasesMax) throw new EngramError('TooManyRequests');
    const id = wanted === NO_LEASE ? this.#freeId() : wanted;
    const grantedTtlSeconds = Math.max(ttlSeconds, minTtlSeconds);
    pending.decide(id, true);
    return {
      mark: { kind: 'lease-grant', id, ttlSeconds: grantedTtlSeconds },
      origin: caller.origin,
      answer: () => {
        observer.leaseGranted?.(grantedTtlSeconds);
        return { id, grantedTtlSeconds, remainingSeconds: grantedTtlSeconds };
      },
    };
  }

  /** Errors: LeaseNotFound. */
  revoke(id: LeaseId, caller: Caller): Promise<Revision> {
    const known = this.#options.pending.has(id);
    const revoked = this.#options.writes.decide(this.#ending(id, caller), LEASE_COST_BYTES, caller, true);
    if (known) this.#note(id, revoked);
    return revoked;
  }

  /** From now on, renewals of the lease wait for `ending`. */
  #note(id: LeaseId, ending: Promise<unknown>): void {
    this.#revoking.set(id, ending);
    const forget = (): void => {
      if (this.#revoking.get(id) === ending) this.#revoking.delete(id);
    };
    ending.then(forget, forget);
  }

  /** A revoke that its caller does not wait for any more goes on, because a retry would begin from the start. */
  *#ending(id: LeaseId, caller: Caller): Job<Decided<Revision>> {
    const { pending, auth, writes, observer, isCorrupt } = this.#options;
    if (isCorrupt()) throw new EngramError('Corrupt');
    if (auth.enabled) yield* writes.txns.permitLease(id, caller);
    if (!pending.has(id)) throw new EngramError('LeaseNotFound');
    const decided = yield* writes.txns.endLease(id, caller.origin);
    observer.leaseRevoked?.();
    return decided;
  }

  /**
   * Returns the granted TTL, or 0. A lease past its deadline is ended first, so that no client sees the lease after
   * the 0. Under CORRUPT no lease ends: the answer waits until one does, as in etcd, at most until Timeout. The end that is waited
   * for may be that of another call, and have begun earlier: its Timeout is not that of this renewal, and neither is its caller's lack
   * of rights (etcd server/lease/lessor.go: Renew waits until the lease is gone).
   */
  keepAlive(id: LeaseId): number | Promise<number> {
    const { lessor, clock, pending, writes, observer, timeoutMs } = this.#options;
    const ttlSeconds = lessor.renew(id, clock.nowMs());
    if (ttlSeconds !== undefined) {
      observer.leaseRenewed?.();
      return ttlSeconds;
    }
    if (!lessor.has(id)) return 0;
    // If its end is under way, only waits: the id may already belong to another lease.
    const gone = this.#revoking.get(id) ?? (pending.isChanging(id) ? writes.whenApplied() : this.expire(id));
    if (gone === undefined) return 0;
    const untilMs = clock.nowMs() + timeoutMs;
    return gone.then(
      () => 0,
      (error: unknown) => {
        if (isEngramError(error, 'LeaseNotFound')) return 0; // another revoke was first
        if (isEngramError(error) && leavesLease.has(error.code)) return this.#gone(id, untilMs);
        throw error;
      },
    );
  }

  /** Resolves with 0 when the lease is gone, which the keeper of leases tries to end. Then the id may belong to another one. */
  async #gone(id: LeaseId, untilMs: number): Promise<number> {
    const { lessor, clock, writes } = this.#options;
    while (lessor.remainingMs(id, clock.nowMs()) === 0) {
      if (clock.nowMs() >= untilMs) throw new EngramError('Timeout');
      await sleep(clock, GONE_LOOK_MS);
      writes.admit(); // throws if the leadership has ended
    }
    return 0;
  }

  /**
   * Ends a lease whose deadline has passed. Resolves with false if another revoke was first: then the id may belong
   * to another lease. Error: Corrupt, and the lease stays.
   */
  expire(id: LeaseId): Promise<boolean> {
    const { pending, writes } = this.#options;
    if (pending.isChanging(id)) return Promise.resolve(false);
    const expired = writes.decide(this.#expiring(id), LEASE_COST_BYTES, undefined, true);
    this.#note(id, expired);
    return expired;
  }

  *#expiring(id: LeaseId): Job<Decided<boolean>> {
    const { pending, lessor, clock, isCorrupt } = this.#options;
    // While this waited for its turn, another revoke may have been first, and the id may belong to another lease.
    if (pending.isChanging(id) || lessor.remainingMs(id, clock.nowMs()) !== 0) return { answer: () => false };
    // No client is told of this refusal, so it needs no proof.
    if (isCorrupt()) return { answer: () => Promise.reject(new EngramError('Corrupt')) };
    return { ...(yield* this.#ending(id, nodeItself)), answer: () => true };
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
      // 63 bits, so that the id is positive when it is read as a signed number.
      const id = leaseId((BigInt(random.uint32() >>> 1) << 32n) | BigInt(random.uint32()));
      if (id !== NO_LEASE && !pending.has(id) && !lessor.has(id)) return id;
    }
  }
}

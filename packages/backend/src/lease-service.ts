import { type Clock, EngramError, type LeaseId, leaseId, NO_LEASE, type Random, type Revision } from '@engram/core';
import { MAX_TTL_SECONDS } from '@engram/lease';
import type { StoreObserver } from './observer.ts';
import type { ReplicatedState } from './replicated-state.ts';
import type { LeaseView } from './store.ts';
import type { WritePath } from './write-path.ts';

/** Leases as clients use them. A grant, a revoke and an expiry are writes; a renewal is none. */
export class LeaseService {
  readonly #state: ReplicatedState;
  readonly #writes: WritePath;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #observer: StoreObserver;
  /** Revokes that are not durable yet: who asks for the lease meanwhile waits until it is gone. */
  readonly #revoking = new Map<LeaseId, Promise<Revision>>();

  constructor(options: {
    state: ReplicatedState;
    writes: WritePath;
    clock: Clock;
    random: Random;
    observer: StoreObserver;
  }) {
    this.#state = options.state;
    this.#writes = options.writes;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#observer = options.observer;
  }

  async grant(wanted: LeaseId, ttlSeconds: number): Promise<LeaseView> {
    const { lessor } = this.#state;
    if (ttlSeconds > MAX_TTL_SECONDS) throw new EngramError('LeaseTTLTooLarge');
    if (wanted !== NO_LEASE && (lessor.has(wanted) || this.#revoking.has(wanted))) throw new EngramError('LeaseExist');
    this.#writes.admit();
    const lease = lessor.grant(wanted === NO_LEASE ? this.#freeId() : wanted, ttlSeconds, this.#clock.nowMs());
    await this.#writes.append({ kind: 'lease-grant', id: lease.id, ttlSeconds: lease.ttlSeconds });
    this.#observer.leaseGranted?.(lease.ttlSeconds);
    return { id: lease.id, grantedTtlSeconds: lease.ttlSeconds, remainingSeconds: lease.ttlSeconds };
  }

  async revoke(id: LeaseId): Promise<Revision> {
    const { lessor } = this.#state;
    if (!lessor.has(id)) throw new EngramError('LeaseNotFound');
    this.#writes.admit();
    const revoked = this.#writes.revoke(id, lessor.revoke(id));
    this.#revoking.set(id, revoked);
    this.#observer.leaseRevoked?.();
    try {
      return await revoked;
    } finally {
      this.#revoking.delete(id);
    }
  }

  /** The granted TTL, or 0. A lease past its deadline is ended first, so that nobody sees it after the 0. */
  keepAlive(id: LeaseId): number | Promise<number> {
    const { lessor } = this.#state;
    const ttlSeconds = lessor.renew(id, this.#clock.nowMs());
    if (ttlSeconds !== undefined) {
      this.#observer.leaseRenewed?.();
      return ttlSeconds;
    }
    const gone = this.#revoking.get(id) ?? (lessor.has(id) ? this.revoke(id) : undefined);
    return gone === undefined ? 0 : gone.then(() => 0);
  }

  timeToLive(id: LeaseId): LeaseView | undefined {
    const { lessor } = this.#state;
    const lease = lessor.get(id);
    if (lease === undefined) return undefined;
    const remainingMs = lessor.remainingMs(id, this.#clock.nowMs()) ?? 0;
    return { id, grantedTtlSeconds: lease.ttlSeconds, remainingSeconds: Math.floor(remainingMs / 1000) };
  }

  #freeId(): LeaseId {
    for (;;) {
      // 63 bits: positive for those who read it as signed.
      const id = leaseId((BigInt(this.#random.uint32() >>> 1) << 32n) | BigInt(this.#random.uint32()));
      if (id !== NO_LEASE && !this.#state.lessor.has(id) && !this.#revoking.has(id)) return id;
    }
  }
}

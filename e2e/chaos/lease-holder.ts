import { setTimeout as sleep } from 'node:timers/promises';
import type { Prng } from '@engram/sim';
import { EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';

export interface HeldLease {
  readonly key: string;
  /** The lease must not expire before this time, on this process's clock. */
  notBeforeMs: number;
  /** The time from which its holder no longer renews it without having revoked it. */
  abandonedMs: number | undefined;
  revoked: boolean;
}

const TTL_SECONDS = 6;
const RENEWAL_MS = 1500;
const RENEWALS_MAX = 10;

/** A client that holds one lease after another, each with a key, and renews it for a while at any member. */
export class LeaseHolder {
  readonly leases = new Map<string, HeldLease>();
  readonly #name: string;
  readonly #clients: readonly EtcdClient[];
  readonly #prng: Prng;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(name: string, endpoints: readonly string[], prng: Prng) {
    this.#name = name;
    this.#clients = endpoints.map((endpoint) => new EtcdClient(endpoint, { deadlineMs: 3000 }));
    this.#prng = prng;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    for (const client of this.#clients) client.close();
  }

  async #run(): Promise<void> {
    for (let number = 0; !this.#stop.signal.aborted; number += 1) {
      try {
        await this.#hold(`lease/${this.#name}/${number}`);
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        await sleep(100);
      }
    }
  }

  async #hold(key: string): Promise<void> {
    const grantedMs = performance.now();
    const { ID: id, TTL: ttl } = await this.#client.leaseGrant({ TTL: TTL_SECONDS });
    const lifeMs = ttl * 1000;
    const lease: HeldLease = { key, notBeforeMs: grantedMs + lifeMs, abandonedMs: undefined, revoked: false };
    // A put without an answer may have happened, so the key belongs to the lease from now on.
    this.leases.set(key, lease);
    try {
      await this.#client.put({ key: Buffer.from(key), value: Buffer.from('held'), lease: id });
      const renewals = this.#prng.below(RENEWALS_MAX);
      for (let renewal = 0; renewal < renewals && !this.#stop.signal.aborted; renewal += 1) {
        await sleep(RENEWAL_MS);
        const sentMs = performance.now();
        const { TTL: left } = await this.#client.leaseKeepAliveOnce(id);
        if (left <= 0) break;
        lease.notBeforeMs = sentMs + left * 1000;
      }
      if (this.#prng.chance(0.3)) {
        lease.revoked = true;
        await this.#client.leaseRevoke({ ID: id });
      }
    } finally {
      lease.abandonedMs = performance.now();
    }
  }

  get #client(): EtcdClient {
    return this.#prng.pick(this.#clients);
  }
}

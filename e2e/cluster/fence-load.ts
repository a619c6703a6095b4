import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Prng } from '@engram/sim';
import { EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';
import type { Acknowledged } from './load.ts';

/** Keys that are written once. */
const PREFIX = 'once/';
const ONCE = { key: Buffer.from(PREFIX), rangeEnd: Buffer.from('once0') } as const;
/** Each write also overwrites one of so many keys with so many bytes: the log grows fast, and the live data does not. */
const BULK_KEYS = 16;
const BULK_BYTES = 2048;
const DEADLINE_MS = 3000;
const COMPACT_EVERY_MS = 1000;
/** A compaction leaves so many revisions. */
const REVISIONS_KEPT = 50;

/**
 * Writers and readers at every member, and a client that compacts. A read is stale if it does not show the newest write
 * that was acknowledged before it began.
 */
export class FenceLoad {
  readonly acknowledged: Acknowledged[] = [];
  readonly stale: string[] = [];
  unknown = 0;
  reads = 0;
  readonly #round: number;
  readonly #endpoints: readonly string[];
  readonly #random: Prng;
  readonly #stop = new AbortController();
  readonly #running: readonly Promise<void>[];
  #number = 0;
  #newest: Acknowledged | undefined;

  constructor(round: number, endpoints: readonly string[], random: Prng) {
    this.#round = round;
    this.#endpoints = endpoints;
    this.#random = random;
    this.#running = [
      ...endpoints.flatMap((endpoint) => [this.#write(endpoint), this.#write(endpoint), this.#read(endpoint)]),
      this.#compact(),
    ];
  }

  async #write(endpoint: string): Promise<void> {
    using client = new EtcdClient(endpoint, { deadlineMs: DEADLINE_MS });
    while (!this.#stop.signal.aborted) {
      this.#number += 1;
      const key = `${PREFIX}${this.#round}/${this.#number}`;
      const bulk = { key: Buffer.from(`bulk/${this.#random.below(BULK_KEYS)}`), value: Buffer.alloc(BULK_BYTES, key) };
      const once = { key: Buffer.from(key), value: Buffer.from(endpoint) };
      try {
        const { header } = await client.txn({ success: [{ requestPut: once }, { requestPut: bulk }] });
        const made = { key, value: endpoint, revision: Number(header?.revision ?? 0) };
        this.acknowledged.push(made);
        if (this.#newest === undefined || made.revision > this.#newest.revision) this.#newest = made;
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        this.unknown += 1;
        await sleep(20);
      }
    }
  }

  async #read(endpoint: string): Promise<void> {
    using client = new EtcdClient(endpoint, { deadlineMs: DEADLINE_MS });
    for (; !this.#stop.signal.aborted; await sleep(10)) {
      const due = this.#newest;
      if (due === undefined) continue;
      try {
        const { kvs, header } = await client.range({ key: Buffer.from(due.key) });
        this.reads += 1;
        const [there, at] = [Number(kvs[0]?.modRevision ?? 0), Number(header?.revision ?? 0)];
        if (there !== due.revision || at < due.revision)
          this.stale.push(`${endpoint} shows ${due.key} at ${there}, in revision ${at}, not at ${due.revision}`);
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
      }
    }
  }

  async #compact(): Promise<void> {
    for (let turn = 0; !this.#stop.signal.aborted; turn += 1) {
      await sleep(COMPACT_EVERY_MS);
      const revision = (this.#newest?.revision ?? 0) - REVISIONS_KEPT;
      if (revision <= 0) continue;
      using client = new EtcdClient(this.#endpoints[turn % this.#endpoints.length]!, { deadlineMs: DEADLINE_MS });
      await client.compact({ revision }).catch((error: unknown) => {
        if (!(error instanceof EtcdError)) throw error;
      });
    }
  }

  /** Resolves when `more` further writes are acknowledged. Rejects after `withinMs`. */
  async until(more: number, withinMs: number): Promise<void> {
    const due = this.acknowledged.length + more;
    for (const endMs = performance.now() + withinMs; this.acknowledged.length < due; await sleep(20))
      assert.ok(performance.now() < endMs, `no ${more} writes were acknowledged within ${withinMs} ms`);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  /** Describes each acknowledged write that a linearizable read at `endpoint` does not show at its revision. */
  async lostAt(endpoint: string): Promise<readonly string[]> {
    using client = new EtcdClient(endpoint, { deadlineMs: 30_000 });
    const { kvs } = await client.range(ONCE);
    const found = new Map(kvs.map((kv) => [Buffer.from(kv.key).toString(), kv]));
    return this.acknowledged.flatMap(({ key, value, revision }) => {
      const kv = found.get(key);
      const same = kv && Number(kv.modRevision) === revision && Buffer.from(kv.value).toString() === value;
      return same ? [] : [`${endpoint}: ${key} of revision ${revision} is at ${kv?.modRevision ?? 'no revision'}`];
    });
  }
}

/** Resolves when a linearizable read is answered at `endpoint`: a member that was away has come up. Rejects after `withinMs`. */
export async function readsAt(endpoint: string, withinMs: number): Promise<void> {
  using client = new EtcdClient(endpoint, { deadlineMs: withinMs });
  for (const endMs = performance.now() + withinMs; ; await sleep(50)) {
    try {
      await client.range({ ...ONCE, countOnly: true });
      return;
    } catch (error) {
      if (!(error instanceof EtcdError) || performance.now() > endMs) throw error;
    }
  }
}

/** Compares the hashes of all members at the newest revision, each after a linearizable read. */
export async function hashesAt(endpoints: readonly string[]): Promise<{ hashes: readonly number[]; revision: number }> {
  using first = new EtcdClient(endpoints[0]!, { deadlineMs: 30_000 });
  const { header } = await first.range({ ...ONCE, countOnly: true });
  const revision = Number(header?.revision ?? 0);
  const hashes: number[] = [];
  for (const endpoint of endpoints) {
    using client = new EtcdClient(endpoint, { deadlineMs: 30_000 });
    await client.range({ ...ONCE, countOnly: true });
    hashes.push((await client.hashKv({ revision: revision })).hash);
  }
  return { hashes, revision };
}

/** Deletes what the writers of a round have written once, so that rounds do not get longer. */
export async function deleteOnce(endpoint: string): Promise<void> {
  using client = new EtcdClient(endpoint, { deadlineMs: 30_000 });
  await client.deleteRange(ONCE);
}

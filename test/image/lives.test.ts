import { nodeItself, type RangeResult } from '@engram/backend';
import { decodeKeyValue } from '@engram/coder';
import { rangeOp, EMPTY_BYTES, epoch, keyBytes, leaseId, type Op, putOp, type RangeOp, type Txn } from '@engram/core';
import { Prng } from '@engram/sim';
import { StorageTrimmedError } from '@engram/storage';
import { expect, test } from 'vitest';
import { catchUp, dump, ImageWorld, type TestNode } from './node.ts';

// Nodes that lead one after the other, with a disk, an emptied disk, or none, while images are written and the log is
// trimmed. Another node follows. Each node must start with exactly the versions of the node before it, and both must
// have what a plain model of the history has.

const LIVES = 8;
const STEPS = 60;
const KEYS = 25;
const PAGE_BYTES = 500;
/** After this time a node deletes what the process before it reported to need. */
const REPORT_OF_ENDED_MS = 60_000;

const putOf = (key: string, value: string, lease: bigint): Op =>
  putOp(keyBytes(key), keyBytes(value), { lease: leaseId(lease) });

const deleteOp = (key: string): Op => ({
  kind: 'delete-range',
  range: { key: keyBytes(key), end: EMPTY_BYTES },
  prevKv: false,
});

const everything = (revision: number): RangeOp =>
  rangeOp({ key: Uint8Array.of(0), end: Uint8Array.of(0) }, { revision, serializable: true });

const txnOf = (...success: Op[]): Txn => ({ compares: [], success, failure: [] });

/** The keys and values at each revision. */
class History {
  readonly #at = new Map<number, ReadonlyMap<string, string>>([[1, new Map()]]);
  newest = 1;

  write(revision: number, puts: readonly (readonly [string, string])[], deleted: readonly string[]): void {
    if (revision === this.newest) return;
    const next = new Map(this.#at.get(this.newest));
    for (const key of deleted) next.delete(key);
    for (const [key, value] of puts) next.set(key, value);
    this.#at.set(revision, next);
    this.newest = revision;
  }

  async check({ store }: TestNode, random: Prng): Promise<void> {
    expect(store.revision).toBe(this.newest);
    const from = Math.max(1, store.compactRevision);
    for (const at of [from, this.newest, random.between(from, this.newest), random.between(from, this.newest)]) {
      const { kvs }: RangeResult = await store.range(everything(at), nodeItself);
      const seen = new Map<string, string>();
      for (const kv of kvs) {
        const { key, value } = decodeKeyValue(kv);
        seen.set(Buffer.from(key).toString('latin1'), Buffer.from(value).toString('latin1'));
      }
      const due = [...this.#at.get(at)!].sort(([left], [right]) => (left < right ? -1 : 1));
      expect([...seen]).toEqual(due);
    }
  }
}

class Lives {
  readonly #random: Prng;
  readonly #world: ImageWorld;
  readonly #history = new History();
  #follower: TestNode | undefined;
  #value = 0;
  saved = 0;
  trims = 0;
  rejoined = 0;

  constructor(seed: number, world: ImageWorld) {
    this.#random = new Prng(seed);
    this.#world = world;
  }

  async run(): Promise<void> {
    let before: object | undefined;
    for (let life = 1; life <= LIVES; life += 1) {
      const disk = await this.#disk('leader');
      const node = await this.#world.open(1n, disk, epoch(life));
      this.#world.pass(REPORT_OF_ENDED_MS);
      if (before !== undefined) expect(await dump(node)).toEqual(before);
      await this.#history.check(node, this.#random);
      await this.#live(node);
      await node.store.replica.whenApplied();
      before = await dump(node);
      await this.#history.check(node, this.#random);
      await this.#followAnd(before);
      expect(node.fatal).toEqual([]);
      await node[Symbol.asyncDispose]();
    }
    await this.#follower?.[Symbol.asyncDispose]();
  }

  /** The existing disk, an emptied one, or none. */
  async #disk(name: string): Promise<string | undefined> {
    const choice = this.#random.below(3);
    if (choice === 0) return undefined;
    if (choice === 1) await this.#world.deleteDisk(name);
    return name;
  }

  async #live(node: TestNode): Promise<void> {
    const giveUp = new AbortController();
    let saving: Promise<unknown> | undefined;
    for (let step = 0; step < STEPS; step += 1) {
      const choice = this.#random.below(100);
      if (choice < 4 && saving === undefined) {
        saving = this.#save(node, giveUp.signal).finally(() => {
          saving = undefined;
        });
      } else if (choice < 7) await saving;
      else if (choice < 12) await this.#trim(node);
      else if (choice < 16) await this.#compact(node);
      else if (choice < 19) await this.#lease(node);
      else if (choice < 22) await this.#follow();
      else await this.#write(node);
    }
    if (this.#random.chance(0.3)) giveUp.abort(new Error('given up'));
    await saving;
  }

  async #save({ storage, store }: TestNode, signal: AbortSignal): Promise<void> {
    const pace = async (): Promise<void> => {
      signal.throwIfAborted();
      if (this.#random.chance(0.3)) await new Promise((resolve) => setImmediate(resolve));
    };
    const { from, parts } = store.replica.sharedImage({ pageBytes: PAGE_BYTES, pace, signal });
    try {
      expect(await storage.image.save(from, parts, signal)).toBe('published');
      this.saved += 1;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #trim({ storage, store }: TestNode): Promise<void> {
    await storage.image.need(store.replica.applied, nodeItself.signal);
    const follower = this.#follower;
    // In half of the cases the follower's need is ignored, as if it were gone.
    const need = this.#random.chance(0.5) ? store.replica.applied : follower?.store.replica.applied;
    if (follower !== undefined && need !== undefined) await follower.storage.image.need(need, nodeItself.signal);
    if ((await storage.image.trim(nodeItself.signal)) !== undefined) this.trims += 1;
  }

  async #compact({ store }: TestNode): Promise<void> {
    const from = Math.max(1, store.compactRevision);
    const at = this.#random.between(from, store.revision);
    if (at > from) await store.compact(at, this.#random.chance(0.3), nodeItself);
  }

  async #lease({ store }: TestNode): Promise<void> {
    const leases = await store.leases('by-id', nodeItself);
    if (leases.length < 3) {
      await store.leaseGrant(leaseId(BigInt(1 + this.#random.below(1000))), 3600, nodeItself).catch(() => undefined);
      return;
    }
    const { id } = this.#random.pick(leases);
    const keys = [...(await store.leaseTimeToLive(id, true, nodeItself))!.keys].map((key) =>
      Buffer.from(key).toString('latin1'),
    );
    this.#history.write(await store.leaseRevoke(id, nodeItself), [], keys);
  }

  async #write({ store }: TestNode): Promise<void> {
    const ops: Op[] = [];
    const puts: (readonly [string, string])[] = [];
    const deleted: string[] = [];
    const keys = new Set(Array.from({ length: this.#random.between(1, 3) }, () => `k${this.#random.below(KEYS)}`));
    const leases = await store.leases('by-id', nodeItself);
    for (const key of keys) {
      if (this.#random.chance(0.25)) {
        ops.push(deleteOp(key));
        deleted.push(key);
        continue;
      }
      this.#value += 1;
      const value = `${this.#value}`.padStart(this.#random.pick([4, 40, 700]), '.');
      const lease = leases.length > 0 && this.#random.chance(0.2) ? this.#random.pick(leases).id : 0n;
      ops.push(putOf(key, value, lease));
      puts.push([key, value]);
    }
    const { revision } = await store.txn(txnOf(...ops), nodeItself);
    this.#history.write(revision, puts, deleted);
  }

  /** Lets a node follow the log of the leader. If the log is trimmed beyond its position, the node starts again. */
  async #follow(): Promise<void> {
    this.#follower ??= await this.#world.open(2n, await this.#disk('follower'));
    try {
      await catchUp(this.#follower);
    } catch (error) {
      if (!(error instanceof StorageTrimmedError)) throw error;
      this.rejoined += 1;
      await this.#follower[Symbol.asyncDispose]();
      this.#follower = await this.#world.open(2n, await this.#disk('follower'));
    }
  }

  async #followAnd(due: object): Promise<void> {
    await this.#follow();
    expect(await dump(this.#follower!)).toEqual(due);
    await this.#history.check(this.#follower!, this.#random);
  }
}

test.each(Array.from({ length: 6 }, (_, index) => index + 1))(
  'seed %i: no version is lost, and none comes back',
  async (seed) => {
    await using world = await ImageWorld.make();
    const lives = new Lives(seed, world);
    await lives.run();
    expect(world.cluster.refusal).toBeUndefined();
    expect(lives.saved).toBeGreaterThan(2);
    expect(lives.trims).toBeGreaterThan(2);
  },
);

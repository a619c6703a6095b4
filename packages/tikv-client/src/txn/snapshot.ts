import { compareBytes, equalBytes, keyText } from '@engram/core';
import type { Backoffer } from '../backoff/backoffer.ts';
import { sameKey } from '../codec/key-codec.ts';
import { MAX_TIMESTAMP, type Timestamp } from '@engram/tso';
import type { Engine } from '../engine.ts';
import { TikvError } from '../errors.ts';
import type { ContextInit, KvPair, LockInfo } from '../proto/gen/kvrpcpb.ts';
import type { Region } from '../region/region.ts';
import type { ReplicaChoice, SendOptions } from '../region/region-sender.ts';
import type { Call, CallOptions } from '../runtime/call.ts';
import { commands } from '../transport/commands.ts';
import { sendByRegion } from '../region/by-region.ts';
import { lockOf } from './lock.ts';
import { type Entry, scanPages, type ScanRange } from './scanner.ts';

/** Maximal transactions whose locks a snapshot tells the stores to skip or read through. Further locks are cleared first. */
const ADVICE_MAX = 1_024;

export interface SnapshotOptions {
  /** Which replica serves reads. The leader if absent. `follower` and `any` are as fresh as the leader, `stale` is not. */
  readonly replica?: ReplicaChoice | undefined;
  /** kvrpcpb.CommandPri: 0 normal, 1 low, 2 high. */
  readonly priority?: number | undefined;
  /** For data that is read once: the read does not evict other data from TiKV's cache. */
  readonly notFillCache?: boolean | undefined;
}

export interface ScanOptions extends CallOptions {
  /** Scans from the highest key downwards. */
  readonly reverse?: boolean | undefined;
  /** Maximal rows of the scan. Unlimited if absent. */
  readonly limit?: number | undefined;
  /** Returns empty values. */
  readonly keysOnly?: boolean | undefined;
  /** Maximal rows of one request. By default the client aims at a megabyte. */
  readonly pageRows?: number | undefined;
}

/**
 * All keys as they were at one timestamp. A snapshot holds no resource. It may be kept and shared as long as its timestamp is
 * not below the safe point. The caller owns byte arrays in answers, but they may share memory with others of the same answer.
 */
export class Snapshot {
  readonly timestamp: Timestamp;
  readonly #engine: Engine;
  readonly #replica: ReplicaChoice;
  readonly #context: ContextInit;
  readonly #ignored = new Set<Timestamp>();
  readonly #readThrough = new Set<Timestamp>();
  #sendOptions: SendOptions;

  constructor(engine: Engine, timestamp: Timestamp, options: SnapshotOptions = {}) {
    this.#engine = engine;
    this.timestamp = timestamp;
    this.#replica = timestamp === MAX_TIMESTAMP ? 'leader' : (options.replica ?? 'leader');
    this.#context = { priority: options.priority, notFillCache: options.notFillCache };
    this.#sendOptions = { replica: this.#replica, context: this.#context };
  }

  /** The value, or undefined if the key does not exist. */
  async get(key: Uint8Array, options?: CallOptions): Promise<Uint8Array | undefined> {
    const call = this.#engine.call(options);
    checkKey(key, this.#engine);
    const checking = this.#engine.checkTimestamp(this.timestamp, call);
    if (checking !== undefined) await checking;
    return this.getStoreKey(this.#engine.codec.toStore(key), this.#engine.backoffer(call));
  }

  /** @internal */
  async getStoreKey(key: Uint8Array, backoffer: Backoffer): Promise<Uint8Array | undefined> {
    let view: Snapshot = this;
    for (let attempt = 0; ; attempt += 1) {
      const answer = await this.#engine.onKey(
        key,
        commands.get,
        { key, version: this.timestamp },
        backoffer,
        view.#sendOptions,
      );
      if (answer.error === undefined) return answer.notFound || answer.value.length === 0 ? undefined : answer.value;
      // At MAX_TIMESTAMP each call reads a newer state. A lock that this call may skip may be a commit that the next call must
      // see, so the advice is kept for this call only.
      if (view === this && this.timestamp === MAX_TIMESTAMP)
        view = new Snapshot(this.#engine, this.timestamp, this.#context);
      await view.meetLocks([lockOf(answer.error)], backoffer, attempt > 0);
    }
  }

  /** The values in the order of `keys`, undefined for absent keys, all of one state. Refused for MAX_TIMESTAMP. */
  async batchGet(keys: readonly Uint8Array[], options?: CallOptions): Promise<readonly (Uint8Array | undefined)[]> {
    const call = this.#engine.call(options);
    this.#needCut();
    for (const key of keys) checkKey(key, this.#engine);
    await this.#engine.checkTimestamp(this.timestamp, call);
    const { codec } = this.#engine;
    const storeKeys = codec.toStore === sameKey ? keys : keys.map((key) => codec.toStore(key));
    return this.#getAll(storeKeys, this.#engine.backoffer(call));
  }

  /** @internal Values by `keyText`. */
  async getStoreKeys(keys: readonly Uint8Array[], backoffer: Backoffer): Promise<Map<string, Uint8Array>> {
    const values = await this.#getAll(keys, backoffer);
    const found = new Map<string, Uint8Array>();
    for (const [at, value] of values.entries()) if (value !== undefined) found.set(keyText(keys[at]!), value);
    return found;
  }

  async #getAll(keys: readonly Uint8Array[], backoffer: Backoffer): Promise<readonly (Uint8Array | undefined)[]> {
    const values = new Array<Uint8Array | undefined>(keys.length).fill(undefined);
    const keyOf = (at: number): Uint8Array => keys[at]!;
    const asked = await sendByRegion(this.#engine, [...keys.keys()], {
      backoffer,
      keyOf,
      send: async (region, part, relocations) => {
        const wanted = part.map(keyOf);
        const pairs = await this.#getPart(region, wanted, backoffer, relocations);
        if (pairs === undefined) return 'moved';
        eachFound(wanted, pairs, (at, value) => {
          values[part[at]!] = value;
        });
        return 'done';
      },
    });
    if (asked.length < keys.length) repeatValues(keys, asked, values);
    return values;
  }

  /** The pairs of the keys that exist, or undefined if the keys may be in other regions now. */
  async #getPart(
    region: Region,
    keys: readonly Uint8Array[],
    backoffer: Backoffer,
    relocations: number,
  ): Promise<readonly KvPair[] | undefined> {
    for (let attempt = 0; ; attempt += 1) {
      const request = { keys, version: this.timestamp };
      const result = await this.#engine.onRegion(
        region,
        commands.batchGet,
        request,
        backoffer,
        relocations,
        this.#sendOptions,
      );
      if (result.kind === 'relocate') return undefined;
      const { error, pairs } = result.response;
      const locked: LockInfo[] = [];
      if (error !== undefined) locked.push(lockOf(error));
      for (const pair of pairs) if (pair.error !== undefined) locked.push(lockOf(pair.error));
      if (locked.length === 0) return pairs;
      // The other pairs of an answer with an error are not used: all keys are requested again.
      await this.meetLocks(locked, backoffer, attempt > 0);
    }
  }

  /**
   * Rows from `start` on, below `end`. `end` of zero length is the end of all keys. With `reverse` the same rows, highest
   * first. Pages of several regions are fetched ahead, within a bound. The next page is requested when one is taken.
   */
  async *scan(start: Uint8Array, end: Uint8Array, options: ScanOptions = {}): AsyncGenerator<Entry, void, undefined> {
    for await (const page of this.pages(start, end, options)) yield* page;
  }

  /** The rows of `scan`, a page at a time. The deadline applies to each page. */
  async *pages(
    start: Uint8Array,
    end: Uint8Array,
    options: ScanOptions = {},
  ): AsyncGenerator<readonly Entry[], void, undefined> {
    this.#needCut();
    const { limit = Number.POSITIVE_INFINITY, pageRows } = options;
    if (!(limit >= 0) || (pageRows !== undefined && !(pageRows > 0)))
      throw new TikvError('invalid-argument', 'a limit of a scan is out of bounds');
    if (end.length > 0 && compareBytes(start, end) >= 0) return;
    const { codec } = this.#engine;
    const [from, to] = codec.rangeToStore(start, end);
    const range: ScanRange = {
      start: from,
      end: to,
      reverse: options.reverse ?? false,
      keysOnly: options.keysOnly ?? false,
      limit,
      pageRows,
    };
    for await (const page of scanPages(this.#engine, this, range, options)) {
      yield codec.toStore === sameKey ? page : page.map(({ key, value }) => ({ key: codec.fromStore(key), value }));
    }
  }

  /** @internal */
  get sendOptions(): SendOptions {
    return this.#sendOptions;
  }

  /** @internal Resolves the locks that a read met. The caller repeats the read afterwards. */
  async meetLocks(locks: readonly LockInfo[], backoffer: Backoffer, again: boolean): Promise<void> {
    const advised = locks.some(
      ({ lockVersion }) => this.#ignored.has(lockVersion) || this.#readThrough.has(lockVersion),
    );
    const full = this.#ignored.size + this.#readThrough.size >= ADVICE_MAX;
    const advice = await this.#engine.resolver.forRead(locks, this.timestamp, backoffer, (again && advised) || full);
    if (!full) {
      for (const startTs of advice.ignore) this.#ignored.add(startTs);
      for (const startTs of advice.readThrough) this.#readThrough.add(startTs);
      this.#sendOptions = {
        replica: this.#replica,
        context: { ...this.#context, resolvedLocks: [...this.#ignored], committedLocks: [...this.#readThrough] },
      };
    }
    if (advice.waitMs !== undefined) {
      // The lock's transaction may finish at any moment, so the delay starts short. The lock's time to live bounds it.
      const cause = new TikvError('region-unavailable', `a key is locked by transaction ${locks[0]?.lockVersion}`);
      await backoffer.wait('txnLockFast', cause, { atMostMs: Math.max(1, advice.waitMs) });
    } else if (again && advised) {
      await backoffer.wait(
        'txnLockFast',
        new TikvError('region-unavailable', `a lock of transaction ${locks[0]?.lockVersion} stays`),
      );
    }
  }

  #needCut(): void {
    if (this.timestamp === MAX_TIMESTAMP)
      throw new TikvError('invalid-argument', 'the newest-value timestamp reads one key only');
  }

  /** @internal */
  async checkTimestamp(call: Call): Promise<void> {
    await this.#engine.checkTimestamp(this.timestamp, call);
  }
}

/** Fills in the values of repeated keys. Only the first position of each key was requested. */
function repeatValues(keys: readonly Uint8Array[], asked: readonly number[], values: (Uint8Array | undefined)[]): void {
  const found = new Map(asked.map((at) => [keyText(keys[at]!), values[at]]));
  for (const [at, key] of keys.entries()) values[at] = found.get(keyText(key));
}

/** Calls `found` for each key that has a value. */
function eachFound(
  keys: readonly Uint8Array[],
  pairs: readonly KvPair[],
  found: (at: number, value: Uint8Array) => void,
): void {
  const give = (at: number, { value }: KvPair): void => {
    if (value.length > 0) found(at, value);
  };
  // The common answer has all keys in the order of the request and needs no sorting. Sorting costs a quarter of a batch get.
  if (pairs.length === keys.length && pairs.every((pair, at) => equalBytes(pair.key, keys[at]!))) {
    for (const [at, pair] of pairs.entries()) give(at, pair);
    return;
  }
  const order = [...keys.keys()].sort((left, right) => compareBytes(keys[left]!, keys[right]!));
  const sorted = pairs.toSorted((left, right) => compareBytes(left.key, right.key));
  let next = 0;
  for (const at of order) {
    const key = keys[at]!;
    while (next < sorted.length && compareBytes(sorted[next]!.key, key) < 0) next += 1;
    const pair = sorted[next];
    if (pair !== undefined && equalBytes(pair.key, key)) give(at, pair);
  }
}

export function checkKey(key: Uint8Array, engine: Engine): void {
  if (key.length > engine.settings.keyBytesMax)
    throw new TikvError('key-too-large', `${key.length} > ${engine.settings.keyBytesMax} bytes`);
}

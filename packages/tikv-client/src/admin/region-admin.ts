import { compareBytes, equalBytes } from '@engram/core';
import { sameKey } from '../codec/key-codec.ts';
import type { Timestamp } from '@engram/tso';
import type { Engine } from '../engine.ts';
import { TikvError } from '../errors.ts';
import { OperatorStatus } from '../proto/gen/pdpb.ts';
import { lowerEnd, upperStart } from '../region/region.ts';
import type { CallOptions } from '../runtime/call.ts';
import { settleAll } from '../runtime/settle-all.ts';
import { commands } from '../transport/commands.ts';
import { uniqueByKey } from '../region/unique-by-key.ts';

const SPLIT_KEYS_MAX = 2_048;

/** A region, for status pages and tests. The bounds are user keys. */
export interface RegionInfo {
  readonly id: number;
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  readonly version: number;
  readonly confVer: number;
  readonly leaderStoreId: number | undefined;
  readonly storeIds: readonly number[];
}

/** All versions and the lock of one key, as the leader of its region stores them. */
export interface KeyVersions {
  readonly lock: { readonly startTs: Timestamp; readonly primary: Uint8Array } | undefined;
  readonly writes: readonly { readonly op: number; readonly startTs: Timestamp; readonly commitTs: Timestamp }[];
}

/** Administration of regions and of key ranges. */
export class RegionAdmin {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Makes each of `keys` the start of a region. Returns the ids of the regions that replaced the split ones. */
  async split(keys: readonly Uint8Array[], options?: CallOptions): Promise<readonly number[]> {
    const call = this.#engine.call(options);
    const ids: number[] = [];
    // TiKV expects the keys of a request in order, each once.
    let left: readonly Uint8Array[] = uniqueByKey(
      keys.map((key) => this.#engine.codec.toStore(key)).sort(compareBytes),
      sameKey,
    );
    const backoffer = this.#engine.backoffer(call, this.#engine.settings.backoffBudgetMs * 3);
    for (let relocations = 0; left.length > 0; relocations += 1) {
      const groups = await this.#engine.locator.group(left, backoffer);
      const rest: Uint8Array[] = [];
      for (const { region, keys: own } of groups) {
        // A key that already is the start of its region needs no split.
        const inside = own.filter((key) => !equalBytes(key, region.start));
        const splitKeys = inside.slice(0, SPLIT_KEYS_MAX);
        rest.push(...inside.slice(SPLIT_KEYS_MAX));
        if (splitKeys.length === 0) continue;
        const result = await this.#engine.onRegion(region, commands.splitRegion, { splitKeys }, backoffer, relocations);
        if (result.kind === 'relocate') {
          rest.push(...splitKeys);
          continue;
        }
        this.#engine.locator.drop(region, 'split');
        this.#engine.locator.learn(result.response.regions, region, call);
        ids.push(...result.response.regions.map(({ id }) => id));
      }
      left = rest;
    }
    return ids;
  }

  /** Asks PD to spread regions over the stores. Returns the percentage of the regions that PD has begun to move. */
  async scatter(regionIds: readonly number[], options?: CallOptions & { readonly group?: string }): Promise<number> {
    return this.#engine.pd.scatterRegions(regionIds, options?.group ?? '', this.#engine.call(options));
  }

  /** Resolves when PD runs no operator for the region. */
  async waitForOperator(regionId: number, options?: CallOptions): Promise<void> {
    const call = this.#engine.call(options);
    for (;;) {
      try {
        const { status } = await this.#engine.pd.getOperator(regionId, call);
        if (status !== OperatorStatus.RUNNING) return;
      } catch (error) {
        if (error instanceof TikvError && error.code === 'pd-error') return; // PD knows no operator
        throw error;
      }
      await call.sleep(100);
    }
  }

  /** The regions that overlap the range, in order. */
  async regions(start: Uint8Array, end: Uint8Array, options?: CallOptions): Promise<readonly RegionInfo[]> {
    const call = this.#engine.call(options);
    const { codec, locator } = this.#engine;
    const backoffer = this.#engine.backoffer(call);
    const [from, to] = codec.rangeToStore(start, end);
    const found: RegionInfo[] = [];
    for (let cursor = from; ; ) {
      if (locator.cached(cursor, call) === undefined) await locator.prefetch(cursor, to, call);
      const region = await locator.locate(cursor, backoffer);
      found.push({
        id: region.id,
        start: region.start.length === 0 ? region.start : codec.fromStore(region.start),
        end: region.end.length === 0 ? region.end : codec.fromStore(region.end),
        version: region.version,
        confVer: region.confVer,
        leaderStoreId: region.peers[region.leader]?.storeId,
        storeIds: region.peers.map(({ storeId }) => storeId),
      });
      if (region.end.length === 0 || (to.length > 0 && Buffer.compare(region.end, to) >= 0)) return found;
      cursor = region.end;
    }
  }

  /**
   * Removes every version of every key in a range, region by region. It is not transactional: the range must have no readers
   * or writers any more. `end` of zero length is the end of all keys.
   */
  async deleteRange(start: Uint8Array, end: Uint8Array, options?: CallOptions): Promise<void> {
    const call = this.#engine.call(options);
    const [from, to] = this.#engine.codec.rangeToStore(start, end);
    const backoffer = this.#engine.backoffer(call);
    let relocations = 0;
    for (let cursor = from; ; ) {
      const region = await this.#engine.locator.locate(cursor, backoffer);
      const request = { startKey: upperStart(cursor, region.start), endKey: lowerEnd(region.end, to) };
      const result = await this.#engine.onRegion(region, commands.deleteRange, request, backoffer, relocations);
      if (result.kind === 'relocate') {
        relocations += 1;
        continue;
      }
      if (result.response.error !== '') throw new TikvError('protocol-error', result.response.error);
      relocations = 0;
      if (request.endKey.length === 0 || (to.length > 0 && Buffer.compare(request.endKey, to) >= 0)) return;
      cursor = request.endKey;
    }
  }

  /**
   * Drops the files of a range on every store, not through raft, so that space comes back at once. The range must have been
   * unused since before the safe point. May be repeated.
   */
  async unsafeDestroyRange(start: Uint8Array, end: Uint8Array, options?: CallOptions): Promise<void> {
    const call = this.#engine.call(options);
    const [startKey, endKey] = this.#engine.codec.rangeToStore(start, end);
    const stores = await this.#engine.stores.all(call);
    await settleAll(
      stores.map(async ({ id }) => {
        const link = await this.#engine.stores.link(id, call);
        if (link === undefined) return;
        const answer = await link
          .send(commands.unsafeDestroyRange, { context: {}, startKey, endKey }, call.deadlineMs, call.signal)
          .catch((cause: unknown) => {
            call.check(cause);
            throw new TikvError('store-unreachable', `store ${id}`, { cause });
          });
        if (answer.error !== '') throw new TikvError('protocol-error', answer.error);
      }),
    );
  }

  /** The lock and the write records of a key, for tests and diagnosis. */
  async versions(key: Uint8Array, options?: CallOptions): Promise<KeyVersions> {
    const storeKey = this.#engine.codec.toStore(key);
    const backoffer = this.#engine.backoffer(this.#engine.call(options));
    const { info, error } = await this.#engine.onKey(storeKey, commands.mvccGetByKey, { key: storeKey }, backoffer);
    if (error !== '') throw new TikvError('protocol-error', error);
    return {
      lock: info?.lock === undefined ? undefined : { startTs: info.lock.startTs, primary: info.lock.primary },
      writes: (info?.writes ?? []).map(({ type, startTs, commitTs }) => ({ op: type, startTs, commitTs })),
    };
  }
}

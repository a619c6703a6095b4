import { compareBytes, keyText } from '@engram/core';
import type { Backoffer } from '../backoff/backoffer.ts';
import type { KeyCodec } from '../codec/key-codec.ts';
import { TikvError } from '../errors.ts';
import type { Observer } from '../observer.ts';
import type { PdClient } from '../pd/pd-client.ts';
import type { Region as RegionMeta } from '../proto/gen/metapb.ts';
import type { Call } from '../runtime/call.ts';
import { holdsEnd, holdsKey, type Region, regionOf } from './region.ts';
import { RegionCache } from './region-cache.ts';

const PREFETCH = 128;

/** Keys of one region, in the order of the argument. */
export interface KeyGroup {
  readonly region: Region;
  readonly keys: Uint8Array[];
}

/** Finds the region of a key in the cache, or else asks PD. Concurrent misses of one key share one request to PD. */
export class RegionLocator {
  readonly cache: RegionCache;
  readonly #pd: PdClient;
  readonly #codec: KeyCodec;
  readonly #observer: Observer;
  readonly #loading = new Map<string, Promise<Region | undefined>>();

  constructor(pd: PdClient, codec: KeyCodec, observer: Observer, idleMs: number) {
    this.#pd = pd;
    this.#codec = codec;
    this.#observer = observer;
    this.cache = new RegionCache(idleMs);
  }

  /** The cached region of `key`, or undefined. */
  cached(key: Uint8Array, call: Call): Region | undefined {
    return this.cache.find(key, call.clock.nowMs());
  }

  async locate(key: Uint8Array, backoffer: Backoffer): Promise<Region> {
    return (
      this.cached(key, backoffer.call) ??
      this.#load(
        `k${keyText(key)}`,
        backoffer,
        (region) => holdsKey(region, key),
        (call) => this.#fetch(key, false, call),
      )
    );
  }

  /** The region of the keys just below `end`, for reverse scans. `end` of zero length is the end of all keys. */
  async locateEnd(end: Uint8Array, backoffer: Backoffer): Promise<Region> {
    const { call } = backoffer;
    const cached = this.cache.findEnd(end, call.clock.nowMs());
    if (cached !== undefined) return cached;
    return this.#load(
      `e${keyText(end)}`,
      backoffer,
      (region) => holdsEnd(region, end),
      async (own) => {
        if (end.length === 0) return this.#fetchLast(own);
        const holding = await this.#fetch(end, false, own);
        return holding !== undefined && holdsEnd(holding, end) ? holding : this.#fetch(end, true, own);
      },
    );
  }

  /** Fills the cache with up to 128 regions from `start` on, so that a walk over many regions needs few requests to PD. */
  async prefetch(start: Uint8Array, end: Uint8Array, call: Call): Promise<void> {
    const views = await this.#pd.scanRegions(this.#codec.boundToPd(start), this.#codec.boundToPd(end), PREFETCH, call);
    for (const view of views) {
      const region = regionOf(view, this.#codec, call.clock.nowMs());
      if (region !== undefined) this.cache.insert(region);
    }
  }

  /** Groups keys by region. The groups follow the order of their first keys. */
  async group(keys: readonly Uint8Array[], backoffer: Backoffer): Promise<readonly KeyGroup[]> {
    const groups = await this.groupBy(keys, (key) => key, backoffer);
    return groups.map(({ region, items }) => ({ region, keys: items }));
  }

  /** As `group`, for items that have a key. */
  async groupBy<Item>(
    items: readonly Item[],
    keyOf: (item: Item) => Uint8Array,
    backoffer: Backoffer,
  ): Promise<readonly { readonly region: Region; readonly items: Item[] }[]> {
    const groups = new Map<Region, { region: Region; items: Item[] }>();
    let last: { region: Region; items: Item[] } | undefined;
    for (const item of items) {
      const key = keyOf(item);
      if (last === undefined || !last.region.valid || !holdsKey(last.region, key)) {
        const region = this.cached(key, backoffer.call) ?? (await this.locate(key, backoffer));
        last = groups.get(region);
        if (last === undefined) {
          last = { region, items: [] };
          groups.set(region, last);
        }
      }
      last.items.push(item);
    }
    return [...groups.values()];
  }

  /** Adds to the cache the regions that replaced `old`, as EpochNotMatch or an answer to a split names them. */
  learn(metas: readonly RegionMeta[], old: Region, call: Call): void {
    const leaderStore = old.peers[old.leader]?.storeId;
    for (const meta of metas) {
      // After a split the store of the old leader leads all new regions. A wrong guess costs one NotLeader.
      const leader = meta.peers.find(({ storeId }) => storeId === leaderStore);
      const region = regionOf({ region: meta, leader, downPeers: [] }, this.#codec, call.clock.nowMs());
      if (region !== undefined) this.cache.insert(region);
    }
  }

  drop(region: Region, reason: string): void {
    this.#observer.regionMiss?.(reason);
    this.cache.remove(region);
  }

  async #load(
    name: string,
    backoffer: Backoffer,
    fits: (region: Region) => boolean,
    fetch: (call: Call) => Promise<Region | undefined>,
  ): Promise<Region> {
    const { call } = backoffer;
    this.#observer.regionMiss?.('not-cached');
    for (;;) {
      let loading = this.#loading.get(name);
      const own = loading === undefined;
      if (loading === undefined) {
        loading = fetch(call).finally(() => this.#loading.delete(name));
        this.#loading.set(name, loading);
      }
      let region: Region | undefined;
      try {
        region = await call.wait(loading);
      } catch (error) {
        call.check(error);
        // The shared request was another call's, whose deadline passed first. This call asks again.
        if (own || !(error instanceof TikvError)) throw error;
        continue;
      }
      if (region !== undefined && fits(region)) return region;
      await backoffer.wait('pdRPC', new TikvError('region-unavailable', 'PD knows no region for the key'));
    }
  }

  async #fetch(key: Uint8Array, previous: boolean, call: Call): Promise<Region | undefined> {
    return this.#keep(await this.#pd.getRegion(this.#codec.toPd(key), previous, call), call);
  }

  /** The last region. PD has no call for it, so the regions are walked from the last cached one. */
  async #fetchLast(call: Call): Promise<Region | undefined> {
    const known = this.cache.regions();
    let start = known[known.length - 1]?.start ?? new Uint8Array(0);
    for (;;) {
      const views = await this.#pd.scanRegions(this.#codec.boundToPd(start), new Uint8Array(0), PREFETCH, call);
      let last: Region | undefined;
      for (const view of views) last = this.#keep(view, call) ?? last;
      if (last === undefined || last.end.length === 0 || compareBytes(last.end, start) <= 0) return last;
      start = last.end;
    }
  }

  #keep(view: Parameters<typeof regionOf>[0] | undefined, call: Call): Region | undefined {
    if (view === undefined) return undefined;
    const region = regionOf(view, this.#codec, call.clock.nowMs());
    // PD may lag behind the stores. Its region is used once even if the cache does not accept it. If it is outdated, the store
    // refuses the request and names the newer regions.
    if (region !== undefined) this.cache.insert(region);
    return region;
  }
}

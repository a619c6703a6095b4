import type { Clock } from '@engram/core';
import { TikvError } from '../errors.ts';
import type { Observer } from '../observer.ts';
import type { PdClient } from '../pd/pd-client.ts';
import { type Store, StoreState } from '../proto/gen/metapb.ts';
import type { Call } from '../runtime/call.ts';
import type { Transport } from '../transport/transport.ts';
import { StoreLink } from './store-link.ts';

/** Stores by id. An address is used until a request to it fails. Then PD is asked again, because stores move. */
export class StorePool {
  readonly #pd: PdClient;
  readonly #options: { transport: Transport; secure: boolean; clock: Clock; observer: Observer };
  readonly #links = new Map<number, StoreLink>();
  readonly #doubted = new Set<number>();
  readonly #loading = new Map<number, Promise<StoreLink | undefined>>();
  #closed = false;

  constructor(pd: PdClient, options: { transport: Transport; secure: boolean; clock: Clock; observer: Observer }) {
    this.#pd = pd;
    this.#options = options;
  }

  /** The link of a store whose address is known and not in doubt, else undefined. */
  known(storeId: number): StoreLink | undefined {
    return this.#doubted.has(storeId) ? undefined : this.#links.get(storeId);
  }

  isAvoided(storeId: number): boolean {
    return this.#links.get(storeId)?.avoided ?? false;
  }

  isSilent(storeId: number): boolean {
    return this.#links.get(storeId)?.silent ?? false;
  }

  /** Undefined if the store does not exist any more. */
  async link(storeId: number, call: Call): Promise<StoreLink | undefined> {
    for (;;) {
      const known = this.known(storeId);
      if (known !== undefined) return known;
      let loading = this.#loading.get(storeId);
      const own = loading === undefined;
      if (loading === undefined) {
        loading = this.#load(storeId, call).finally(() => this.#loading.delete(storeId));
        this.#loading.set(storeId, loading);
      }
      try {
        return await call.wait(loading);
      } catch (error) {
        call.check(error);
        const stale = this.#links.get(storeId);
        if (stale !== undefined) return stale;
        // The shared request was another call's, which was aborted or late. This call asks again.
        if (own || !(error instanceof TikvError)) throw error;
      }
    }
  }

  async #load(storeId: number, call: Call): Promise<StoreLink | undefined> {
    const store = await this.#pd.getStore(storeId, call);
    if (this.#closed) throw new TikvError('closed');
    this.#doubted.delete(storeId);
    const known = this.#links.get(storeId);
    if (store === undefined || store.state === StoreState.Tombstone) {
      this.#links.delete(storeId);
      known?.close();
      return undefined;
    }
    if (known?.address === store.address) return known;
    known?.close();
    const link = new StoreLink(storeId, store.address, this.#options);
    this.#links.set(storeId, link);
    return link;
  }

  /** Makes the next use ask PD for the address. `moved`: the address is certainly wrong, so the connection is closed too. */
  doubt(storeId: number, moved = false): void {
    this.#doubted.add(storeId);
    if (!moved) return;
    this.#links.get(storeId)?.close();
    this.#links.delete(storeId);
  }

  /** All stores of TiKV. TiFlash stores are left out. */
  async all(call: Call): Promise<readonly Store[]> {
    const stores = await this.#pd.getStores(call);
    return stores.filter(
      ({ state, labels }) =>
        state !== StoreState.Tombstone &&
        !labels.some(({ key, value }) => key.toLowerCase() === 'engine' && value.startsWith('tiflash')),
    );
  }

  close(): void {
    this.#closed = true;
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }
}

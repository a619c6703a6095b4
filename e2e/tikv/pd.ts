import { setTimeout as sleep } from 'node:timers/promises';

/** All regions have their copies after ten seconds, PD's own interval, or never. */
const REPLICATED_MAX_S = 40;
/** A region sends PD a heartbeat each second. After a fault its leader must be elected first. */
const LEADERS_MAX_MS = 30_000;
/** Members of PD are killed meanwhile. */
const ANSWER_MAX_MS = 30_000;
const KEYSPACES_MAX_MS = 30_000;

/** A region, as PD knows it. */
export interface PdRegion {
  readonly id: number;
  /** The stores that have a copy of it. */
  readonly stores: readonly number[];
  /** The store that leads it. Undefined until PD, which may have just started, has the region's heartbeat. */
  readonly leader: number | undefined;
}

/** PD's HTTP interface, at any member that answers. */
export class Pd {
  readonly #addresses: () => readonly string[];

  /** `addresses`: host:port of each member, asked before each round of attempts. */
  constructor(addresses: () => readonly string[]) {
    this.#addresses = addresses;
  }

  async #ask(path: string): Promise<unknown> {
    return JSON.parse(await this.#text(path, 'GET'));
  }

  async #text(path: string, method: 'GET' | 'POST' | 'DELETE', body?: unknown): Promise<string> {
    let last: unknown;
    for (const endMs = performance.now() + ANSWER_MAX_MS; performance.now() < endMs; await sleep(500)) {
      for (const address of this.#addresses()) {
        try {
          const answer = await fetch(`http://${address}/pd/api/v1/${path}`, {
            signal: AbortSignal.timeout(2_000),
            method,
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          });
          const text = await answer.text();
          if (answer.ok || method !== 'GET') return text; // PD may refuse a change
          last = new Error(text);
        } catch (error) {
          last = error;
        }
      }
    }
    throw last;
  }

  /**
   * PD's default keyspace asks for splits at its own borders, which the lab's stores answer by a split in half, for ever. The rule
   * is there soon after the first store has come. Resolves when it was there and is gone.
   */
  async forgetKeyspaces(): Promise<void> {
    let seen = false;
    for (const endMs = performance.now() + KEYSPACES_MAX_MS; performance.now() < endMs; await sleep(100)) {
      const rules = (await this.#ask('config/region-label/rules')) as readonly { readonly id: string }[] | null;
      const there = (rules ?? []).some(({ id }) => id === 'keyspaces/0');
      if (seen && !there) return;
      seen ||= there;
      if (there) await this.#text('config/region-label/rule/keyspaces%2F0', 'DELETE');
    }
    throw new Error(`PD ${seen ? 'keeps' : 'has no'} rule of keyspaces after ${KEYSPACES_MAX_MS} ms`);
  }

  async storeCount(): Promise<number> {
    const { count } = (await this.#ask('stores')) as { count: number };
    return count;
  }

  /** Resolves when each region has a copy on each of `stores` stores. What is written before may be lost. */
  async replicated(stores: number): Promise<void> {
    let regions: readonly PdRegion[] = [];
    for (let second = 0; second < REPLICATED_MAX_S; second += 1) {
      regions = await this.regions();
      const whole = (region: PdRegion): boolean => region.stores.length === stores && region.leader !== undefined;
      if (regions.length > 0 && regions.every(whole) && (await this.#noneLacks())) return;
      await sleep(1_000);
    }
    throw new Error(
      `the regions were not replicated within ${REPLICATED_MAX_S} s: ${JSON.stringify(regions).slice(0, 2_000)}`,
    );
  }

  /** Whether every copy that a region should have is there, and has all data. */
  async #noneLacks(): Promise<boolean> {
    for (const lack of ['miss-peer', 'pending-peer', 'learner-peer']) {
      const { count } = (await this.#ask(`regions/check/${lack}`)) as { count: number };
      if (count > 0) return false;
    }
    return true;
  }

  async regions(): Promise<readonly PdRegion[]> {
    const { regions } = (await this.#ask('regions')) as {
      regions?: { id: number; peers: { store_id: number }[]; leader?: { store_id?: number } }[];
    };
    return (regions ?? []).map(({ id, peers, leader }) => ({
      id,
      stores: peers.map((peer) => peer.store_id),
      leader: leader?.store_id,
    }));
  }

  /** Asks PD to give the lead of a region to another store. PD may refuse. */
  async transferLeader({ id }: PdRegion, store: number): Promise<void> {
    const operator = { name: 'transfer-leader', region_id: id, to_store_id: store };
    await this.#text('operators', 'POST', operator).catch(() => undefined);
  }

  /** The store that leads most regions now. */
  async busiestStore(): Promise<number> {
    for (const endMs = performance.now() + LEADERS_MAX_MS; performance.now() < endMs; await sleep(100)) {
      const counts = new Map<number, number>();
      for (const { leader } of await this.regions())
        if (leader !== undefined) counts.set(leader, (counts.get(leader) ?? 0) + 1);
      const [busiest] = [...counts].sort((left, right) => right[1] - left[1]);
      if (busiest !== undefined) return busiest[0];
    }
    throw new Error(`PD knew no leader of a region for ${LEADERS_MAX_MS} ms`);
  }

  /** The address that a store has given PD. PD's ids are in the order of starting. */
  async addressOf(storeId: number): Promise<string> {
    const { stores } = (await this.#ask('stores')) as { stores: { store: { id: number; address: string } }[] };
    const found = stores.find(({ store }) => store.id === storeId);
    if (found === undefined) throw new Error(`PD knows no store ${storeId}`);
    return found.store.address;
  }

  /** The name of the member of PD that leads. */
  async leaderName(): Promise<string> {
    const { name } = (await this.#ask('leader')) as { name: string };
    return name;
  }
}

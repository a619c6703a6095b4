import type { Prng } from '@engram/sim';
import type { Judge } from './judge.ts';
import type { DecodedMessage, Fields } from './messages.ts';
import * as ask from './methods.ts';
import { RandomRequests } from './random-requests.ts';
import { STORES } from './stores.ts';
import { StreamPair } from './stream-pair.ts';
import {
  compareWatches,
  headerRevision,
  isCanceled,
  isCanceledByCompaction,
  isCreated,
  isProgress,
  watchId,
} from './watch-log.ts';

const STREAMS_MAX = 4;
const WATCHERS_MAX = 25;

/** Creates and cancels watchers while keys change. Each watcher must get the same from both stores. */
export async function watchPart(judge: Judge, prng: Prng, steps: number): Promise<void> {
  const make = new RandomRequests(prng);
  const watches: Watches[] = [];
  for (let step = 0; step < steps; step += 1) {
    make.revision = judge.revision;
    const dice = prng.below(100);
    const stream = watches.length > 0 ? prng.pick(watches) : undefined;
    if (stream === undefined || (dice < 3 && watches.length < STREAMS_MAX)) watches.push(new Watches(judge));
    else if (dice < 18 && stream.live.length < WATCHERS_MAX) await stream.create(randomCreate(prng, make));
    else if (dice < 22) await stream.cancel(prng.chance(0.8) && stream.live.length > 0 ? prng.pick(stream.live) : 77n);
    else if (dice < 25) await stream.settle();
    else if (dice < 27) {
      for (const each of watches) await each.settle();
      await judge.compact({ revision: BigInt(judge.revision - prng.below(8)) });
    } else if (dice < 28) {
      watches.splice(watches.indexOf(stream), 1);
      await stream.finish();
    } else await change(judge, prng, make);
  }
  for (const stream of watches) await stream.finish();
}

async function change(judge: Judge, prng: Prng, make: RandomRequests): Promise<void> {
  const dice = prng.below(10);
  if (dice < 5) await judge.call(ask.put, make.put());
  else if (dice < 7) await judge.call(ask.deleteRange, make.deleteRange());
  else if (dice < 9) await judge.call(ask.txn, make.txn());
  else if (prng.chance(0.6)) await judge.call(ask.leaseGrant, { ID: make.leaseId(), TTL: 5_000n });
  else await judge.call(ask.leaseRevoke, { ID: make.leaseId() });
}

function randomCreate(prng: Prng, make: RandomRequests): Fields {
  const starts = [0n, 0n, 0n, 1n, -1n, make.revision - prng.below(15), make.revision + prng.below(6)];
  const all = prng.chance(0.4);
  return {
    key: all ? '\0' : make.key(),
    rangeEnd: all ? '\0' : make.rangeEnd(),
    startRevision: BigInt(prng.pick(starts)),
    prevKv: prng.chance(0.5),
    fragment: prng.chance(0.2),
    progressNotify: prng.chance(0.2),
    watchId: prng.chance(0.3) ? BigInt(prng.below(8)) : undefined,
    filters: prng.chance(0.25) ? [prng.pick([0, 1, 2, -1])] : [],
  };
}

/** The watchers of one stream, in both stores. */
export class Watches {
  readonly pair: StreamPair;
  readonly #judge: Judge;
  #live = new Set<bigint>();
  #highestStart = 0;
  #buried = 0;

  constructor(judge: Judge) {
    this.#judge = judge;
    this.pair = new StreamPair(
      judge,
      '/etcdserverpb.Watch/Watch',
      'etcdserverpb.WatchRequest',
      'etcdserverpb.WatchResponse',
    );
  }

  /** The ids of existing watchers, according to etcd. */
  get live(): readonly bigint[] {
    return [...this.#live];
  }

  /**
   * The number of messages of each store before the newest watcher. Progress among them says nothing about that
   * watcher's past.
   */
  #heardBefore: readonly number[] = STORES.map(() => 0);

  /** Creates a watcher and waits for the answer. */
  async create(request: Fields): Promise<void> {
    const before = this.#count(0, isCreated);
    this.pair.send({ createRequest: request });
    await this.pair.until('created', (store) => this.#count(store, isCreated) > before);
    const created = this.pair.messages(0).filter(isCreated)[before];
    if (created === undefined || isCanceled(created)) return;
    this.#heardBefore = STORES.map((_name, store) => this.pair.messages(store).length);
    const id = BigInt(watchId(created));
    const start = Number(request['startRevision'] ?? 0);
    this.#live.add(id);
    this.#highestStart = Math.max(this.#highestStart, start);
    if (start > 0 && start < this.#judge.compacted) await this.#bury(id);
  }

  /**
   * A watcher that compaction ends is gone in the store. In etcd its id stays in use, and the stream gets no progress,
   * until the client cancels it. etcd answers that cancel.
   */
  async #bury(id: bigint): Promise<void> {
    const isOfIt = (message: DecodedMessage): boolean => isCanceled(message) && watchId(message) === String(id);
    const ends = (store: number): boolean => this.#count(store, isCanceledByCompaction) > this.#buried;
    await this.pair.until('canceled by compaction', ends);
    this.#buried += 1;
    const seen = this.#count(0, isOfIt);
    this.pair.send({ cancelRequest: { watchId: id } });
    await this.pair.until('canceled again', (store) => store === 1 || this.#count(0, isOfIt) > seen);
    this.#live.delete(id);
  }

  async cancel(id: bigint): Promise<void> {
    await this.settle();
    const known = this.#live.delete(id);
    const isOfIt = (message: DecodedMessage): boolean => isCanceled(message) && watchId(message) === String(id);
    const before = STORES.map((_name, store) => this.#count(store, isOfIt));
    this.pair.send({ cancelRequest: { watchId: id } });
    if (known) await this.pair.until('canceled', (store) => this.#count(store, isOfIt) > (before[store] ?? 0));
  }

  /** Waits until everything up to now has been delivered. No watcher of a future revision may exist. */
  async settle(): Promise<void> {
    while (this.#judge.revision < this.#highestStart) await this.#judge.call(ask.put, { key: '~', value: 'later' });
    const wanted = this.#judge.revision;
    if (this.#live.size === 0) return;
    const asked = (): void => this.pair.send({ progressRequest: {} });
    asked();
    await this.pair.until(
      `progress to ${wanted}`,
      (store) =>
        this.pair
          .messages(store)
          .slice(this.#heardBefore[store])
          .some((one) => isProgress(one) && watchId(one) === '-1' && headerRevision(one) >= wanted),
      asked,
    );
  }

  async finish(): Promise<void> {
    await this.settle();
    compareWatches(this.#judge, this.pair);
    this.pair.close();
  }

  #count(store: number, matches: (message: DecodedMessage) => boolean): number {
    return this.pair.messages(store).filter(matches).length;
  }
}

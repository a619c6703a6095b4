import { setTimeout as delay } from 'node:timers/promises';
import type { Judge } from './judge.ts';
import type { DecodedMessage, Fields } from './messages.ts';
import * as ask from './methods.ts';
import type { StreamPair } from './stream-pair.ts';
import { STORES } from './stores.ts';
import { compareWatches, headerRevision, isProgress, watchId } from './watch-log.ts';
import { Watches } from './watch-part.ts';

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
const SILENCE_MS = 1_200;

/** Watchers at the limits of a request. */
export async function watchCases(judge: Judge): Promise<void> {
  await oddIds(judge);
  await oddRequests(judge);
  await future(judge);
  await fragments(judge);
  await periodicProgress(judge);
  await onlyListening(judge);
}

async function oddIds(judge: Judge): Promise<void> {
  const watches = new Watches(judge);
  const key = 'ids';
  for (const id of [-1n, -2n, 1n, 0n, 0n, 3n, 0n, 3n, 2n ** 31n, 2n ** 53n - 1n])
    await watches.create({ key, watchId: id });
  await judge.call(ask.put, { key });
  await watches.cancel(3n);
  await watches.create({ key, watchId: 3n });
  await judge.call(ask.put, { key });
  await watches.finish();
}

async function oddRequests(judge: Judge): Promise<void> {
  const watches = new Watches(judge);
  const creates: readonly Fields[] = [
    {},
    { key: 'b', rangeEnd: 'b' },
    { key: 'b', rangeEnd: 'a' },
    { key: 'b', rangeEnd: 'a', startRevision: -1n },
    { key: '', rangeEnd: 'a' },
    { rangeEnd: '\0' },
    { key: '\0', rangeEnd: '\0', startRevision: INT64_MIN },
    { key: '\0', rangeEnd: '\0', filters: [0, 1] },
    { key: '\0', rangeEnd: '\0', filters: [0, 0, 0] },
    { key: '\0', rangeEnd: '\0', filters: [7, -1, 1] },
    { key: '\xff', rangeEnd: '\0', startRevision: 1n },
  ];
  for (const create of creates) await watches.create(create);
  await watches.cancel(0n);
  watches.pair.send({});
  watches.pair.send({ cancelRequest: {} });
  watches.pair.send({ cancelRequest: { watchId: 99n } });
  await judge.call(ask.put, { key: 'b', value: 'to all' });
  await judge.call(ask.put, { key: '\0', value: 'to the first' });
  await judge.call(ask.deleteRange, { key: '\0', rangeEnd: '\0' });
  await watches.finish();
}

/** A watcher of a revision that is never reached gets no event, and its stream gets no progress. */
async function future(judge: Judge): Promise<void> {
  const watches = new Watches(judge);
  await watches.create({ key: '\0', rangeEnd: '\0', startRevision: BigInt(judge.revision + 3) });
  for (let step = 0; step < 5; step += 1) {
    await judge.call(ask.put, { key: 'future', value: `${step}` });
    watches.pair.send({ progressRequest: {} });
  }
  await watches.finish();
  const never = new Watches(judge);
  for (const startRevision of [INT64_MAX, 2n ** 53n + 1n, 2n ** 31n]) {
    never.pair.send({ createRequest: { key: '\0', rangeEnd: '\0', startRevision, progressNotify: true } });
  }
  await never.pair.until('three are created', (store) => never.pair.messages(store).length >= 3);
  await judge.call(ask.put, { key: 'never', value: 'seen' });
  never.pair.send({ progressRequest: {} });
  await delay(SILENCE_MS);
  compareWatches(judge, never.pair);
  judge.equal('what is told of a time that never comes', countOf(never.pair, 0), countOf(never.pair, 1));
  never.pair.close();
}

const countOf = (pair: StreamPair, store: number): number => pair.messages(store).length;

/** Events of one revision that exceed one message, with and without `fragment`. */
async function fragments(judge: Judge): Promise<void> {
  const watches = new Watches(judge);
  const range = { key: 'large/', rangeEnd: 'large0' };
  await watches.create({ ...range, fragment: true });
  await watches.create({ ...range, fragment: true, prevKv: true });
  await watches.create({ ...range, prevKv: true });
  const value = 'v'.repeat(400 << 10);
  for (let round = 0; round < 2; round += 1) {
    const puts = [1, 2, 3].map((at) => ({ requestPut: { key: `large/${at}`, value } }));
    await judge.call(ask.txn, { success: puts });
  }
  await judge.call(ask.deleteRange, range);
  await watches.create({ ...range, fragment: true, prevKv: true, startRevision: BigInt(judge.revision - 2) });
  await watches.settle();
  // Events from history may share a response, so their fragments may contain several revisions.
  const live = (store: number): readonly Fields[] =>
    watches.pair
      .messages(store)
      .filter((one) => one['events'] !== undefined && watchId(one) !== '3')
      .map((one) => ({
        id: watchId(one),
        fragment: one['fragment'] === true,
        events: Array.isArray(one['events']) ? one['events'].length : 0,
      }));
  const byWatcher = (store: number) =>
    live(store).toSorted((left, right) => (String(left['id']) < String(right['id']) ? -1 : 1));
  judge.equal('how large events are divided', byWatcher(0), byWatcher(1));
  await watches.finish();
}

/** A watcher with progress_notify gets periodic progress under its own id. A watcher of a future revision does not. */
async function periodicProgress(judge: Judge): Promise<void> {
  const watches = new Watches(judge);
  await watches.create({ key: 'quiet', progressNotify: true });
  await watches.create({ key: 'quiet' });
  await watches.create({ key: 'loud', progressNotify: true, watchId: 9n });
  await judge.call(ask.put, { key: 'elsewhere' });
  await judge.call(ask.put, { key: 'loud' });
  const told = (store: number, id: string): readonly DecodedMessage[] =>
    watches.pair
      .messages(store)
      .filter((one) => isProgress(one) && watchId(one) === id && headerRevision(one) === judge.revision);
  await watches.pair.until('progress by itself', (store) => told(store, '0').length > 1 && told(store, '9').length > 0);
  for (const id of ['0', '9']) judge.equal(`progress of watcher ${id}`, told(0, id)[0], told(1, id)[0]);
  judge.equal(
    'who did not ask is told nothing',
    STORES.map(() => 0),
    STORES.map((_name, store) => told(store, '1').length),
  );
  await watches.finish();
}

/** A client that has half-closed the stream may still listen. */
async function onlyListening(judge: Judge): Promise<void> {
  const watches = new Watches(judge);
  await watches.create({ key: 'listen' });
  watches.pair.halfClose();
  await judge.call(ask.put, { key: 'listen', value: 'after' });
  const wanted = judge.revision;
  await watches.pair.until('an event after the half-close', (store) =>
    watches.pair.messages(store).some((one) => headerRevision(one) === wanted && one['events'] !== undefined),
  );
  compareWatches(judge, watches.pair);
  judge.equal('the stream goes on', watches.pair.ended(0), watches.pair.ended(1));
  watches.pair.close();
}

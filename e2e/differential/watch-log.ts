import { isMessage, type Judge, listOf } from './judge.ts';
import { type Decoded, type DecodedMessage, show } from './messages.ts';
import type { StreamPair } from './stream-pair.ts';
import { STORES } from './stores.ts';

/** The responses for each watcher, in order, independent of how events were divided into responses. */
type Told = Map<string, Decoded[]>;

/**
 * Checks etcd's guarantees for every watcher on both stores, then compares what each watcher got. The stores may differ
 * in how events of several revisions share a response, in the header of events from history, and in how often they
 * report progress.
 */
export function compareWatches(judge: Judge, pair: StreamPair): void {
  const [etcd, store] = STORES.map((name, at) => {
    checkPromises(judge, name, pair, at);
    return { created: createdOf(pair.messages(at)), told: toldOf(pair.messages(at)) };
  });
  if (etcd === undefined || store === undefined) throw new Error('two stores, two ends');
  const sent = pair.sent.join(' ');
  judge.equal(`answers to creates, in order: ${sent}`, etcd.created, store.created);
  for (const id of new Set([...etcd.told.keys(), ...store.told.keys()])) {
    judge.equal(`watcher ${id} of: ${sent}`, etcd.told.get(id) ?? [], store.told.get(id) ?? []);
  }
}

export const watchId = (message: DecodedMessage): string => String(message['watchId'] ?? 0n);
export const headerRevision = (message: DecodedMessage): number => {
  const { header } = message;
  return isMessage(header) ? Number(header['revision'] ?? 0n) : 0;
};
export const isCreated = (message: DecodedMessage): boolean => message['created'] === true;
export const isCanceled = (message: DecodedMessage): boolean => message['canceled'] === true;
export const isCanceledByCompaction = (message: DecodedMessage): boolean => 'compactRevision' in message;
export const isProgress = (message: DecodedMessage): boolean =>
  !isCreated(message) && !isCanceled(message) && message['events'] === undefined && !isCanceledByCompaction(message);

const createdOf = (messages: readonly DecodedMessage[]): readonly DecodedMessage[] => messages.filter(isCreated);

function toldOf(messages: readonly DecodedMessage[]): Told {
  const told: Told = new Map();
  /** Watchers that compaction has ended. etcd may end them once more on request. */
  const dead = new Set<string>();
  for (const message of messages) {
    if (isProgress(message)) continue;
    // A refused create has no watcher.
    if (isCreated(message) && isCanceled(message)) continue;
    const id = watchId(message);
    if (isCreated(message)) dead.delete(id);
    if (isCanceled(message) && dead.delete(id)) continue;
    if (isCanceledByCompaction(message)) dead.add(id);
    const list = told.get(id) ?? [];
    told.set(id, list);
    if (message['events'] === undefined) list.push(message);
    else list.push(...listOf(message['events']));
  }
  return told;
}

const modRevision = (event: DecodedMessage | undefined): number => {
  const kv = event?.['kv'];
  return isMessage(kv) ? Number(kv['modRevision']) : 0;
};

function checkPromises(judge: Judge, name: string, pair: StreamPair, at: number): void {
  const last = new Map<string, { revision: number; whole: boolean }>();
  const live = new Set<string>();
  const dead = new Set<string>();
  const broken = (what: string, message: DecodedMessage): void => {
    judge.fail(`${name}: ${what}: ${pair.sent.join(' ')}`, '', show(message));
  };
  for (const message of pair.messages(at)) {
    const id = watchId(message);
    if (isCreated(message)) {
      if (!isCanceled(message)) live.add(id);
      dead.delete(id);
      last.delete(id);
      continue;
    }
    if (isProgress(message)) {
      // Progress says nothing about watchers created later: events of the past may still come for them.
      if (id === '-1')
        for (const [watcher, { whole }] of last) last.set(watcher, { revision: headerRevision(message), whole });
      continue;
    }
    if (isCanceled(message) && dead.delete(id)) continue;
    if (!live.has(id)) broken('a watcher that is not there', message);
    if (isCanceled(message)) {
      live.delete(id);
      if (isCanceledByCompaction(message)) dead.add(id);
      continue;
    }
    const events = listOf(message['events']);
    const before = last.get(id);
    const first = modRevision(events[0]);
    if (before !== undefined && (before.whole ? first <= before.revision : first < before.revision)) {
      broken(`an event at ${first} behind ${before.revision}`, message);
    }
    const revisions = events.map(modRevision);
    if (revisions.some((revision, index) => index > 0 && revision < revisions[index - 1]!)) broken('disorder', message);
    const end = revisions.at(-1) ?? 0;
    if (headerRevision(message) < end) broken('a header before its events', message);
    last.set(id, { revision: end, whole: message['fragment'] !== true });
  }
}

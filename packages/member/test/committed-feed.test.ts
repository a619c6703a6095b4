import { getEventListeners } from 'node:events';
import { epoch, type LogPosition, logPosition, type Seal } from '@engram/core';
import { type LogBatch, MemoryStorage } from '@engram/storage';
import { describe, expect, test } from 'vitest';
import { CommittedFeed, FeedingLog } from '../src/committed-feed.ts';

/** Room for two of the batches here, each in a slab of its own. */
const small = { bytesMax: 200, newestBytesMax: 1, slabBytes: 100 };
const batchAt = (first: number): LogBatch => ({ first: logPosition(first), records: [Uint8Array.of(first)] });

function following(feed: CommittedFeed, from: number, signal: AbortSignal) {
  const taken: LogPosition[] = [];
  const ended = (async () => {
    for await (const { first } of feed.follow(logPosition(from), signal)) taken.push(first);
  })();
  return { taken, ended };
}

describe('the feed of committed batches', () => {
  test('a stream keeps one listener of its signal, however often it waits', async () => {
    const feed = new CommittedFeed();
    feed.begin(logPosition(0));
    const abort = new AbortController();
    const { taken, ended } = following(feed, 0, abort.signal);
    for (let first = 0; first < 100; first += 1) {
      feed.push(batchAt(first));
      await new Promise(setImmediate);
    }
    expect(taken).toHaveLength(100);
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1);
    abort.abort();
    await ended;
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
  });

  test('a follower that waits ends with its signal, and the others go on', async () => {
    const feed = new CommittedFeed();
    feed.begin(logPosition(0));
    const [leaves, stays] = [new AbortController(), new AbortController()];
    const left = following(feed, 0, leaves.signal);
    const stayed = following(feed, 0, stays.signal);
    await new Promise(setImmediate);
    leaves.abort();
    await left.ended;
    feed.push(batchAt(0));
    await new Promise(setImmediate);
    expect([left.taken, stayed.taken]).toEqual([[], [0]]);
    feed.end();
    await stayed.ended;
  });

  test('a signal that has fired already ends a stream at once', async () => {
    const feed = new CommittedFeed();
    feed.begin(logPosition(0));
    await following(feed, 0, AbortSignal.abort()).ended;
  });
});

describe('a log that feeds followers', () => {
  const never = new AbortController().signal;
  const seal = (epochNumber: number, holder: bigint): Seal => ({ epoch: epoch(epochNumber), holder });

  async function logOf(records: number): Promise<MemoryStorage> {
    const storage = new MemoryStorage();
    await storage.log.seal(seal(1, 1n));
    for (let first = 1; first <= records; first += 1) await storage.log.append(batchAt(first), seal(1, 1n));
    return storage;
  }

  async function readTo(log: FeedingLog, from: number, end: number): Promise<void> {
    for await (const { first } of log.read(logPosition(from), never)) if (first === end) return;
  }

  test('what was read at a takeover is there for followers that lack it', async () => {
    const [storage, feed] = [await logOf(4), new CommittedFeed()];
    const log = new FeedingLog(storage.log, feed);
    await log.seal(seal(2, 2n));
    await readTo(log, 3, Number.POSITIVE_INFINITY);
    await log.append(batchAt(5), seal(2, 2n));
    const { taken, ended } = following(feed, 3, never);
    await new Promise(setImmediate);
    feed.end();
    await ended;
    expect(taken).toEqual([3, 4, 5]);
  });

  test('a follower that is further back reads the log', async () => {
    const [storage, feed] = [await logOf(4), new CommittedFeed()];
    const log = new FeedingLog(storage.log, feed);
    await log.seal(seal(2, 2n));
    await readTo(log, 3, Number.POSITIVE_INFINITY);
    await expect(following(feed, 2, never).ended).rejects.toMatchObject({ fault: 'behind' });
  });

  test('it has nothing of a read that did not come to the end, nor the last batch before it was taken', async () => {
    const [storage, feed] = [await logOf(4), new CommittedFeed()];
    const log = new FeedingLog(storage.log, feed);
    await log.seal(seal(2, 2n));
    await readTo(log, 1, 3);
    await expect(following(feed, 3, never).ended).rejects.toMatchObject({ fault: 'behind' });
    const reading = log.read(logPosition(4), never)[Symbol.asyncIterator]();
    expect((await reading.next()).value).toMatchObject({ first: 4 });
    await expect(following(feed, 4, never).ended).rejects.toMatchObject({ fault: 'behind' });
  });

  test('it keeps no more of a long read than a feed does', async () => {
    const [storage, feed] = [await logOf(4), new CommittedFeed(small)];
    const log = new FeedingLog(storage.log, feed);
    await log.seal(seal(2, 2n));
    await readTo(log, 1, Number.POSITIVE_INFINITY);
    await expect(following(feed, 2, never).ended).rejects.toMatchObject({ fault: 'behind' });
    const { taken, ended } = following(feed, 3, never);
    await new Promise(setImmediate);
    feed.end();
    await ended;
    expect(taken).toEqual([3, 4]);
  });

  test('a follower inside of a batch gets its rest', async () => {
    const feed = new CommittedFeed();
    feed.begin(logPosition(1));
    feed.push({ first: logPosition(1), records: [Uint8Array.of(1), Uint8Array.of(2)] });
    const { value } = await feed.follow(logPosition(2), never).next();
    expect(value).toEqual({ first: 2, records: [Uint8Array.of(2)] });
  });
});

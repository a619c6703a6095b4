import { getEventListeners } from 'node:events';
import { type LogPosition, logPosition } from '@engram/core';
import type { LogBatch } from '@engram/storage';
import { describe, expect, test } from 'vitest';
import { CommittedFeed } from '../src/committed-feed.ts';

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

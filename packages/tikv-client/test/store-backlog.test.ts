import { GrpcCode } from '@engram/core';
import { Scheduler, SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { isTikvError } from '../index.ts';
import { BatchStream, STUCK_MS, WAITING_BYTES_MAX } from '../src/transport/batch-stream.ts';
import { commands } from '../src/transport/commands.ts';
import type { Channel, TransportError } from '../src/transport/transport.ts';
import { Bench } from './support/bench.ts';

const REQUEST_BYTES = 1 << 20;
const FULL = { grpc: GrpcCode.RESOURCE_EXHAUSTED, unsent: true, message: 'too many bytes wait for this store' };
const { get } = commands;

/** A stream to a store that takes of its bytes what the test says. */
function shutStream() {
  const clock = new SimClock({ scheduler: new Scheduler() });
  const store = { waitingBytes: 0, ended: undefined as TransportError | undefined };
  const channel: Channel = {
    unary: () => new Promise(() => {}),
    stream: () => ({
      get waitingBytes() {
        return store.waitingBytes;
      },
      write: (bytes) => {
        store.waitingBytes += bytes.length;
      },
      cancel: () => {},
    }),
    close: () => {},
  };
  const stream = new BatchStream(channel, clock, {}, 1, {
    end: (error) => {
      store.ended = error;
    },
    silent: () => {},
  });
  const ask = (bytes = REQUEST_BYTES): Promise<unknown> =>
    stream
      .send(get.field!, get.request, get.response, { key: new Uint8Array(bytes) }, 3_600_000, undefined)
      .catch((error: unknown) => error);
  return { clock, store, stream, ask };
}

test('what a store does not take is bounded, also within a turn of the event loop', async () => {
  const { clock, store, stream, ask } = shutStream();
  const refused: unknown[] = [];
  const count = (2 * WAITING_BYTES_MAX) / REQUEST_BYTES;
  for (let at = 0; at < count; at += 1) void ask().then((error) => refused.push(error));
  await clock.pass(10);
  expect(store.waitingBytes).toBeGreaterThanOrEqual(WAITING_BYTES_MAX);
  expect(store.waitingBytes).toBeLessThan(WAITING_BYTES_MAX + 2 * REQUEST_BYTES);
  expect(refused.length).toBe(count - stream.inFlight);
  expect(refused.length).toBeGreaterThan(60);
  expect(await ask(1), 'a short one too').toMatchObject(FULL);
  for (const error of refused) expect(error).toMatchObject(FULL);
  store.waitingBytes = WAITING_BYTES_MAX - 1;
  const before = stream.inFlight;
  void ask(1);
  await clock.pass(10);
  expect(stream.inFlight).toBe(before + 1);
});

test('a store that takes none of them for long is left; one that takes some is not', async () => {
  const { clock, store, ask } = shutStream();
  store.waitingBytes = 2 * WAITING_BYTES_MAX;
  expect(await ask()).toMatchObject(FULL);
  await clock.pass(STUCK_MS - 1);
  store.waitingBytes -= 1;
  expect(await ask()).toMatchObject(FULL);
  await clock.pass(STUCK_MS - 1);
  expect(await ask()).toMatchObject(FULL);
  expect(store.ended).toBeUndefined();
  await clock.pass(1);
  expect(await ask()).toMatchObject(FULL);
  expect(store.ended).toMatchObject({ grpc: GrpcCode.UNAVAILABLE, lost: true, message: 'the store takes no bytes' });
});

test('time in which there was room does not count', async () => {
  const { clock, store, ask } = shutStream();
  for (const waitingBytes of [WAITING_BYTES_MAX, 0, WAITING_BYTES_MAX]) {
    store.waitingBytes = waitingBytes;
    const asked = ask();
    if (waitingBytes > 0) expect(await asked).toMatchObject(FULL);
    await clock.pass(STUCK_MS - 1);
  }
  expect(store.ended).toBeUndefined();
});

test('calls to a store whose windows stay shut end by their deadline, say why, and go on when it takes bytes', async () => {
  const bench = await Bench.make({ stores: 1 });
  await bench.put({ a: '0' });
  const address = bench.cluster.addressOf(1);
  bench.cluster.shut.add(address);
  const value = 'x'.repeat(4 << 20);
  const writes = Array.from({ length: 24 }, (_, at) =>
    bench.client
      .begin({ timeoutMs: 1_000 })
      .then((txn) => {
        txn.put(Buffer.from(`k${at}`), Buffer.from(value));
        return txn.commit({ mode: '2pc', timeoutMs: 3_000 });
      })
      .catch((error: unknown) => error),
  );
  const ends = await bench.run(Promise.all(writes));
  for (const end of ends) expect(isTikvError(end, 'deadline-exceeded'), String(end)).toBe(true);
  expect(ends.map((end) => String(end instanceof Error ? end.cause : end)).join()).toContain(
    `a store could not be reached: store 1 at ${address}: too many bytes wait for this store`,
  );
  bench.cluster.shut.delete(address);
  bench.cluster.breakStreams(address);
  expect(await bench.get('a')).toBe('0');
});

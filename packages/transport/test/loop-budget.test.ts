import { expect, test } from 'vitest';
import { GrpcCode } from '@engram/core';
import { Loop, type LoopWatch, StepPace, TRANSPORT_PHASE_MS, TransportShare, unwatched } from '@engram/loop';
import { SimClock } from '@engram/sim';
import { serve } from '@engram/transport';
import { pingFrame } from '@engram/http2';
import type { StreamCall, StreamHandler } from '@engram/wire';
import { DeadlineWheel } from '../src/deadline-wheel.ts';
import { Flusher } from '../src/h2/flusher.ts';
import { grpcHeaders, grpcMessage, RawClient } from './support/raw-client.ts';
import { startServing } from './support/serving.ts';

/* Work on many objects is split over several turns, and work that still takes too long is reported by name. */

class Watch implements LoopWatch {
  readonly budgetMs = 10;
  reportedMs = 0;
  readonly told: string[] = [];
  began(): void {}
  stretched(phase: string, ms: number, method = ''): void {
    this.reportedMs += ms;
    this.told.push(`${phase} ${Math.round(ms)} ${method}`);
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('the method that keeps the event loop is named, and the frames around it are not', async () => {
  const clock = new SimClock();
  const watch = new Watch();
  const handle = (): Buffer => {
    clock.advance(30);
    return Buffer.from('late');
  };
  const methods = new Map([['/test.Slow/Call', { kind: 'unary' as const, handle }]]);
  await using serving = await startServing(serve, { clock, watch, methods });
  using client = await RawClient.open(serving.port);
  client.write(client.request(1, '/test.Slow/Call', 'x'));
  await client.outcome(1);
  expect(watch.told).toEqual(['handle 30 /test.Slow/Call']);
});

test('calls that take a while each do not share a slice because they came in one chunk', async () => {
  const clock = new SimClock();
  const watch = new Watch();
  let [calls, most] = [0, 0];
  const handle = (): Buffer => {
    clock.advance(1);
    calls += 1;
    return Buffer.from('done');
  };
  const methods = new Map([['/test.Slow/Call', { kind: 'unary' as const, handle }]]);
  await using serving = await startServing(serve, { clock, watch, methods });
  using client = await RawClient.open(serving.port);
  client.write(
    Buffer.concat(Array.from({ length: 20 }, (_, at) => client.request(2 * at + 1, '/test.Slow/Call', 'x'))),
  );
  for (let before = 0; calls < 20; before = calls) {
    await turn();
    most = Math.max(most, calls - before);
  }
  await client.outcome(39);
  // Four fit. The loop may have turned twice between two checks of this test.
  expect(most).toBeLessThanOrEqual(8);
  expect(watch.told).toEqual([]);
});

test('a frame of a thousand messages is worked off in slices, in order, and what follows it waits', async () => {
  const clock = new SimClock();
  const watch = new Watch();
  const log: string[] = [];
  const open = (call: StreamCall): StreamHandler => ({
    message: (bytes) => {
      clock.advance(0.1);
      log.push(Buffer.from(bytes).toString());
    },
    halfClosed: () => {
      log.push('half closed');
      call.end();
    },
    drained() {},
    closed: () => void log.push('closed'),
  });
  const methods = new Map([['/test.Slow/Stream', { kind: 'bidi' as const, open }]]);
  await using serving = await startServing(serve, { clock, watch, methods });
  using client = await RawClient.open(serving.port);
  const messages = Array.from({ length: 1_000 }, (_, at) => String(at));
  const frame = client.data(1, Buffer.concat(messages.map((text) => grpcMessage(text))), true);
  expect(frame.length).toBeLessThan(16_384);
  client.write(
    client.headers(1, grpcHeaders('/test.Slow/Stream')),
    frame,
    client.headers(3, grpcHeaders('/test.Slow/Stream'), true),
  );
  await client.outcome(1);
  await client.outcome(3);
  expect(log.slice(0, 1_002)).toEqual([...messages, 'half closed', 'half closed']);
  expect(watch.told).toEqual([]);
});

test('the rest of a frame is dropped with its stream', async () => {
  const clock = new SimClock();
  let messages = 0;
  const open = (call: StreamCall): StreamHandler => ({
    message: () => {
      clock.advance(0.1);
      messages += 1;
      if (messages === 500) call.end({ code: GrpcCode.ABORTED, message: 'enough' });
    },
    halfClosed() {},
    drained() {},
    closed() {},
  });
  const methods = new Map([['/test.Slow/Stream', { kind: 'bidi' as const, open }]]);
  await using serving = await startServing(serve, { clock, methods });
  using client = await RawClient.open(serving.port);
  const frame = client.data(1, Buffer.concat(Array.from({ length: 1_000 }, () => grpcMessage('x'))));
  client.write(client.headers(1, grpcHeaders('/test.Slow/Stream')), frame);
  expect(await client.outcome(1)).toContain('enough');
  client.write(pingFrame(Buffer.from('whatever'), false));
  await client.frame(({ type, ack }) => type === 'PING' && ack);
  expect(messages).toBe(500);
});

test.each([
  { ms: TRANSPORT_PHASE_MS / 40, fit: 40 },
  { ms: TRANSPORT_PHASE_MS / 2, fit: 4 },
])('a thousand connections are written to a few at a time, all of them: $ms ms each', async ({ ms, fit }) => {
  const clock = new SimClock();
  const flusher = new Flusher(clock, new TransportShare(clock), unwatched);
  let flushed = 0;
  let most = 0;
  const flush = (): void => {
    flushed += 1;
    clock.advance(ms);
  };
  for (let at = 0; at < 1_000; at += 1) flusher.add({ flush }, at % 2 === 0);
  for (let before = -1; before !== flushed; ) {
    before = flushed;
    await turn();
    most = Math.max(most, flushed - before);
  }
  expect(flushed).toBe(1_000);
  // The clock is read after every four. The loop may have turned twice between two checks of this test.
  expect(most).toBeLessThanOrEqual(2 * fit);
});

test('one connection that takes long to write to is named', async () => {
  const clock = new SimClock();
  const watch = new Watch();
  const flusher = new Flusher(clock, new TransportShare(clock), watch);
  for (const ms of [15, 0]) flusher.add({ flush: () => void clock.advance(ms) }, true);
  await turn();
  expect(watch.told).toEqual(['send 15 ']);
});

test.each([
  { when: 'at one time', deadlineMs: () => 50 },
  { when: 'over a second in which the process was stopped', deadlineMs: (at: number) => at / 10 },
])('deadlines that pass together, $when, end their calls a few at a time', async ({ deadlineMs }) => {
  const clock = new SimClock();
  const wheel = new DeadlineWheel(clock, new Loop({ clock, pace: new StepPace(2_000) }));
  let expired = 0;
  let most = 0;
  const end = (): void => {
    expired += 1;
  };
  for (let at = 0; at < 10_000; at += 1) {
    wheel.add({ deadlineMs: deadlineMs(at), wheelPrevious: undefined, wheelNext: undefined, expired: end });
  }
  const stopped = clock.nowMs;
  clock.nowMs = () => stopped.call(clock) + 2_000;
  clock.advance(100);
  most = expired;
  for (let before = -1; before !== expired; ) {
    before = expired;
    await turn();
    most = Math.max(most, expired - before);
  }
  expect(expired).toBe(10_000);
  expect(most).toBeLessThanOrEqual(250);
});

import { Socket } from 'node:net';
import { type Clock, SharedBudget } from '@engram/core';
import {
  LONG_OUTPUT_BESIDE_MS,
  LONG_OUTPUT_REST_MS_MAX,
  LONG_OUTPUT_REST_TIMES,
  LONG_OUTPUT_TURN_MS,
  TransportShare,
  unwatched,
} from '@engram/loop';
import { FrameReader, FrameType, windowUpdateFrame } from '@engram/http2';
import type { LongMessage } from '@engram/wire';
import { realClock, SimClock } from '@engram/sim';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MessageStream, MessageWriter } from '../src/grpc/message-writer.ts';
import { AbuseBudget } from '../src/h2/abuse-budget.ts';
import { Flusher, RESTING_FROM_ANSWERS } from '../src/h2/flusher.ts';
import { BATCH_MAX_BYTES } from '../src/h2/limits.ts';
import { Sender } from '../src/h2/sender.ts';
import { SlabPool } from '../src/h2/slab-pool.ts';
import { Stream } from '../src/h2/stream.ts';
import { grpcMessage } from './support/raw-client.ts';

class TestStream extends Stream implements MessageStream {
  override readonly counted = true;
  headSent = false;
  readonly answerForm = undefined;
  contentLength = -1;
  data(_bytes: Buffer, _start: number, end: number): number {
    return end;
  }
  halfClosed(): void {}
  writeEnd(): void {}
  aborted(): void {}
}

/** A socket whose writes complete at once. */
class FastSocket extends Socket {
  readonly chunks: Uint8Array[] = [];
  /** Called for each write. */
  wrote = (): void => {};

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, callback: () => void): void {
    this.wrote();
    this.chunks.push(Buffer.from(chunk));
    callback();
  }

  override _writev(chunks: readonly { chunk: Uint8Array }[], callback: () => void): void {
    this.wrote();
    for (const { chunk } of chunks) this.chunks.push(Buffer.from(chunk));
    callback();
  }
}

function senderTo(socket: Socket, flusher = new Flusher(realClock, new TransportShare(realClock), unwatched)): Sender {
  const share = new SharedBudget({ max: 1, greed: 1, floor: 0 }).share();
  const commons = { slabs: new SlabPool(), flusher };
  return new Sender(
    socket,
    commons,
    { streamSent: () => {}, streamBroken: () => {}, batchTaken: () => {} },
    new AbuseBudget(0),
    share,
    () => 0,
  );
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The DATA frames that were sent: the stream and the payload of each. */
function dataFrames(socket: FastSocket): readonly { streamId: number; payload: string }[] {
  const reader = new FrameReader(2 ** 24 - 1);
  reader.push(Buffer.concat(socket.chunks));
  const frames: { streamId: number; payload: string }[] = [];
  while (reader.next()) {
    if (reader.type !== FrameType.DATA) continue;
    frames.push({
      streamId: reader.streamId,
      payload: reader.bytes.toString('latin1', reader.start, reader.end),
    });
  }
  return frames;
}

const asSent = (text: string): string => grpcMessage(text).toString('latin1');

test('messages that follow each other on a stream share a frame, until something comes between or the batch leaves', async () => {
  const socket = new FastSocket();
  const sender = senderTo(socket);
  const [one, two] = [new TestStream(1, 1000), new TestStream(3, 1000)];
  const messages = new MessageWriter(sender);
  const send = (stream: TestStream, text: string): void => messages.message(stream, Buffer.from(text), text.length);
  send(one, 'a');
  send(one, 'b');
  send(two, 'c');
  send(one, 'd');
  sender.control(windowUpdateFrame(0, 1));
  send(one, 'e');
  send(one, 'f');
  await turn();
  send(one, 'g');
  await turn();
  expect(dataFrames(socket)).toEqual([
    { streamId: 1, payload: asSent('a') + asSent('b') },
    { streamId: 3, payload: asSent('c') },
    { streamId: 1, payload: asSent('d') },
    { streamId: 1, payload: asSent('e') + asSent('f') },
    { streamId: 1, payload: asSent('g') },
  ]);
});

/** Bytes of which each next part must be brought first. A part is brought at once. */
function brought(bytes: number): LongMessage {
  let ready = 0;
  const prepare = (wanted: number): Promise<void> | undefined => {
    if (ready >= wanted) return undefined;
    ready = BATCH_MAX_BYTES;
    return Promise.resolve();
  };
  const read = (target: Uint8Array, start: number, end: number): number => {
    target.fill(1, start, end);
    ready -= end - start;
    return end;
  };
  return { bytes, heldBytes: 0, prepare, read, drop: () => {} };
}

test.each([
  { what: 'are at hand', messageOf: (bytes: number) => Buffer.alloc(bytes) },
  { what: 'are brought while they are sent', messageOf: brought },
])(
  'long answers whose bytes $what leave over several turns, one after another, if sockets take them at once',
  async ({ messageOf }) => {
    const clock = new SimClock();
    const flusher = new Flusher(clock, new TransportShare(clock), unwatched);
    const BATCHES = 40;
    const BATCH_MS = 1;
    let written = 0;
    const outputs = [1, 2].map(() => {
      let batches = 0;
      const socket = new FastSocket();
      // Each batch is one write.
      socket.wrote = (): void => {
        batches += 1;
        written += 1;
        clock.advance(BATCH_MS);
      };
      const sender = senderTo(socket, flusher);
      sender.window = 2 ** 31 - 1;
      sender.queue(new TestStream(1, 2 ** 31 - 1), Buffer.alloc(0), messageOf(BATCHES * BATCH_MAX_BYTES));
      return () => batches;
    });
    for (let before = -1; before !== written; ) {
      before = written;
      await turn();
      // The test's turn may be ahead of the flusher's, and see the end of one and the begin of the next.
      expect(written - before).toBeLessThanOrEqual(2 * (LONG_OUTPUT_TURN_MS / BATCH_MS + outputs.length));
      const [first, second] = outputs.map((batches) => batches());
      expect(Math.abs(first! - second!)).toBeLessThanOrEqual(LONG_OUTPUT_TURN_MS / BATCH_MS + 1);
    }
    for (const batches of outputs) expect(batches()).toBeGreaterThanOrEqual(BATCHES);
  },
);

/** Turns that the test runs, and a time that passes when the bytes of an answer are read. */
class Turns {
  readonly #time = new SimClock();
  #soon: (() => void)[] = [];
  readonly share: TransportShare;
  readonly flusher: Flusher;
  readMs = 0;

  constructor() {
    const clock: Clock = Object.assign(Object.create(this.#time), {
      nowMs: () => this.#time.nowMs(),
      after: (delayMs: number, fire: () => void) => this.#time.after(delayMs, fire),
      soon: (fire: () => void) => void this.#soon.push(fire),
    });
    this.share = new TransportShare(clock);
    this.flusher = new Flusher(clock, this.share, unwatched);
  }

  answer(bytes: number): LongMessage {
    const read = (target: Uint8Array, start: number, end: number): number => {
      target.fill(1, start, end);
      const ms = (BATCH_MS * (end - start)) / BATCH_MAX_BYTES;
      this.readMs += ms;
      this.#time.advance(ms);
      return end;
    };
    return { bytes, heldBytes: 0, prepare: () => undefined, read, drop: () => {} };
  }

  pass(ms: number): void {
    this.#time.advance(ms);
  }

  async next(): Promise<void> {
    await turn();
    for (const fire of this.#soon.splice(0)) {
      fire();
      await turn();
    }
  }
}

/** The time of a batch of an answer. */
const BATCH_MS = 0.25;

test.each([
  { beside: 'nothing', parts: LONG_OUTPUT_TURN_MS, happens: () => {} },
  {
    beside: 'frames of its client',
    parts: LONG_OUTPUT_TURN_MS,
    happens: (sender: Sender) => {
      sender.cork();
      sender.uncork();
    },
  },
  { beside: 'short answers', parts: LONG_OUTPUT_BESIDE_MS, happens: (sender: Sender) => sender.announceAnswer() },
])('a long output has its part of a turn and no more, beside $beside', async ({ parts, happens }) => {
  const turns = new Turns();
  const sender = senderTo(new FastSocket(), turns.flusher);
  sender.window = 2 ** 31 - 1;
  const bytes = 400 * BATCH_MAX_BYTES;
  const streams = [new TestStream(1, 2 ** 31 - 1), new TestStream(3, 2 ** 31 - 1)];
  for (const stream of streams) sender.queue(stream, Buffer.alloc(0), turns.answer(bytes / 2));
  await turn();
  let count = 0;
  for (; sender.queuedBytes > BATCH_MAX_BYTES && count < 1000; count += 1) {
    const before = turns.readMs;
    for (let at = 0; at < 5; at += 1) {
      happens(sender);
      await turn();
    }
    await turns.next();
    expect(turns.readMs - before).toBeLessThanOrEqual(parts + BATCH_MS);
  }
  // It has all of its part.
  expect(count).toBeLessThanOrEqual((400 * BATCH_MS) / parts);
});

/** What a turn takes besides the answers. */
const OTHER_MS = 0.25;

test.each([
  { answers: RESTING_FROM_ANSWERS, besides: 'short answers', short: true, framesMs: 0, rests: true },
  { answers: RESTING_FROM_ANSWERS, besides: 'short answers and frames', short: true, framesMs: 1, rests: true },
  { answers: RESTING_FROM_ANSWERS - 1, besides: 'short answers', short: true, framesMs: 0, rests: false },
  { answers: RESTING_FROM_ANSWERS, besides: 'nothing', short: false, framesMs: 0, rests: false },
])(
  '$answers long answers of one client beside $besides rest between their batches: $rests',
  async ({ answers, short, framesMs, rests }) => {
    const turns = new Turns();
    const sender = senderTo(new FastSocket(), turns.flusher);
    sender.window = 2 ** 31 - 1;
    for (let at = 0; at < answers; at += 1) {
      sender.queue(new TestStream(2 * at + 1, 2 ** 31 - 1), Buffer.alloc(0), turns.answer(40 * BATCH_MAX_BYTES));
    }
    let [workedMs, restedMs] = [0, 0];
    for (let count = 0; count < 200; count += 1) {
      if (short) turns.flusher.answers();
      const before = turns.readMs;
      if (framesMs > 0) {
        // Of its client, as those that open windows: they let the part of a turn begin anew.
        turns.share.spendOnFrames(framesMs);
        sender.cork();
        sender.uncork();
      }
      await turns.next();
      turns.pass(OTHER_MS);
      const ms = turns.readMs - before;
      if (count < 2) continue; // until the first part of a turn is used up
      if (ms > 0) {
        if (workedMs > 0) expect(restedMs >= Math.max(1, LONG_OUTPUT_REST_TIMES * workedMs) - OTHER_MS).toBe(rests);
        [workedMs, restedMs] = [ms, 0];
      } else restedMs += OTHER_MS;
      expect(restedMs).toBeLessThanOrEqual(rests ? LONG_OUTPUT_REST_MS_MAX + OTHER_MS : 0);
      if (sender.queuedBytes < 4 * BATCH_MAX_BYTES) break;
    }
    // Each goes on until its end.
    expect(turns.readMs).toBeGreaterThan(10);
  },
);

test('short answers are known of while they gather, and the end of a long one is none', async () => {
  const turns = new Turns();
  const { share } = turns;
  const sender = senderTo(new FastSocket(), turns.flusher);
  const stream = new TestStream(1, 2 ** 31 - 1);
  sender.window = 2 ** 31 - 1;
  sender.queue(stream, Buffer.alloc(0), turns.answer(2 * BATCH_MAX_BYTES));
  sender.finish(stream);
  await turns.next();
  expect(stream.localClosed).toBe(true);
  share.spendOnLong(LONG_OUTPUT_BESIDE_MS);
  expect(share.longSpent).toBe(false);
  sender.cork();
  sender.announceAnswer();
  expect(share.longSpent).toBe(true);
});

const action = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      stream: fc.nat(1),
      bytes: fc.oneof(fc.nat(40), fc.nat(5_000), fc.constantFrom(16_379, 16_380, 20_000)),
    }),
  },
  { weight: 1, arbitrary: fc.constant('control' as const) },
  { weight: 1, arbitrary: fc.constant('turn' as const) },
);

test('however messages share frames, each stream gets its bytes in order and pays for them once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
      const socket = new FastSocket();
      const sender = senderTo(socket);
      const messages = new MessageWriter(sender);
      const window = 10_000_000;
      sender.window = window;
      const streams = [new TestStream(1, window), new TestStream(3, window)];
      const sent = ['', ''];
      for (const [at, what] of actions.entries()) {
        if (what === 'turn') await turn();
        else if (what === 'control') sender.control(windowUpdateFrame(0, 1));
        else {
          const text = String.fromCharCode(97 + (at % 26)).repeat(what.bytes);
          messages.message(streams[what.stream]!, Buffer.from(text), text.length);
          sent[what.stream]! += asSent(text);
        }
      }
      for (let flushes = 0; flushes < 20; flushes += 1) await turn();
      const frames = dataFrames(socket);
      for (const [at, stream] of streams.entries()) {
        const own = frames.filter(({ streamId }) => streamId === stream.id);
        expect(own.map(({ payload }) => payload).join('') === sent[at]).toBe(true);
        expect(stream.sendWindow).toBe(window - sent[at]!.length);
        expect(stream.batchBytes + stream.flyingBytes).toBe(0);
      }
      expect(sender.window).toBe(window - sent[0]!.length - sent[1]!.length);
      expect(frames.every(({ payload }) => payload.length <= 16_384)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test('connections with answers are flushed before those with events, each once for a turn', async () => {
  const flushed: string[] = [];
  const flusher = new Flusher(realClock, new TransportShare(realClock), unwatched);
  const flushable = (name: string): { flush(): void } => ({ flush: () => flushed.push(name) });
  flusher.add(flushable('events 1'), false);
  flusher.add(flushable('answers'), true);
  flusher.add(flushable('events 2'), false);
  await turn();
  expect(flushed).toEqual(['answers', 'events 1', 'events 2']);
  flusher.add(flushable('events 3'), false);
  await turn();
  expect(flushed.slice(3)).toEqual(['events 3']);
});

import { rstStreamFrame } from '@engram/http2';
import { serve } from '@engram/transport';
import type { CallContext, Method, MethodTable, StreamCall } from '@engram/wire';
import { expect, test } from 'vitest';
import { SEND_QUEUE_MAX_BYTES, STREAMED_ANSWER_BYTES } from '../src/h2/limits.ts';
import { frame, RawClient } from './support/raw-client.ts';
import { echoMethods } from './support/echo-methods.ts';
import { startServing, until } from './support/serving.ts';

/* Calls that wait for other clients do not count as running meanwhile, and count again afterwards. */

const HOLD = '/test.Hold/Hold';
const OBSERVE = '/test.Hold/Observe';

interface Held {
  readonly call: CallContext;
  answer(): void;
  fail(): void;
}

/** A call whose handler does what the test does, also when its client has gone. */
function holding(): { readonly held: Held[]; readonly methods: MethodTable } {
  const held: Held[] = [];
  const handle = (_request: Uint8Array, call: CallContext): Promise<Uint8Array> => {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    held.push({ call, answer: () => resolve(new Uint8Array(1)), fail: () => reject(new Error('failed')) });
    return promise;
  };
  return { held, methods: new Map([[HOLD, { kind: 'unary', handle }]]) };
}

interface Life {
  readonly what: string;
  readonly live: (one: Held, cancel: () => Promise<void>) => void | Promise<void>;
}

const lives: readonly Life[] = [
  { what: 'has never waited, and says so', live: ({ call }) => call.waits!(false) },
  { what: 'answers while it waits', live: ({ call }) => call.waits!(true) },
  {
    what: 'works again, and then answers',
    live: ({ call }) => {
      call.waits!(true);
      call.waits!(false);
    },
  },
  {
    what: 'says everything twice',
    live: ({ call }) => {
      for (const waiting of [true, true, false, false]) call.waits!(waiting);
    },
  },
  {
    what: 'waits a second time',
    live: ({ call }) => {
      for (const waiting of [true, false, true]) call.waits!(waiting);
    },
  },
  {
    what: 'fails while it waits',
    live: ({ call, fail }) => {
      call.waits!(true);
      fail();
    },
  },
  {
    what: 'is cancelled while it waits',
    live: ({ call }, cancel) => {
      call.waits!(true);
      return cancel();
    },
  },
];

test.each(lives)('as many calls run as before beside one that $what', async ({ live }) => {
  const { held, methods } = holding();
  await using serving = await startServing(serve, { methods, maxConcurrentStreams: 2 });
  using client = await RawClient.open(serving.port);
  let pings = 0;
  // The server has handled all frames before it.
  const pinged = async (): Promise<void> => {
    pings += 1;
    const data = Buffer.alloc(8, pings);
    client.write(frame('PING', 0, 0, data));
    await client.frame(({ type, ack, payload }) => type === 'PING' && ack && payload.equals(data));
  };

  client.write(client.request(1, HOLD, 'x'));
  await until(() => held.length === 1);
  await live(held[0]!, async () => {
    client.write(rstStreamFrame(1, 8));
    await pinged();
  });
  held[0]!.answer();
  // Its handler has returned.
  await new Promise((resolve) => setImmediate(resolve));

  client.write(client.request(3, HOLD, 'x'), client.request(5, HOLD, 'x'));
  await until(() => held.length === 3);
  // Two run: they count until their handlers return.
  client.write(rstStreamFrame(3, 8), rstStreamFrame(5, 8), client.request(7, HOLD, 'x'));
  await pinged();
  expect(held.length).toBe(3);
  held[1]!.answer();
  await until(() => held.length === 4);
});

test('one that waits makes room for another, and takes it again', async () => {
  const { held, methods } = holding();
  await using serving = await startServing(serve, { methods, maxConcurrentStreams: 2 });
  using client = await RawClient.open(serving.port);
  client.write(client.request(1, HOLD, 'x'), client.request(3, HOLD, 'x'));
  await until(() => held.length === 2);
  client.write(rstStreamFrame(1, 8), rstStreamFrame(3, 8), client.request(5, HOLD, 'x'), client.request(7, HOLD, 'x'));
  client.write(frame('PING', 0, 0, Buffer.alloc(8, 1)));
  await client.frame(({ type, ack }) => type === 'PING' && ack);
  expect(held.length).toBe(2);
  held[0]!.call.waits!(true);
  await until(() => held.length === 3);
  held[0]!.call.waits!(false);
  // Three run now: one that returns makes no room.
  held[1]!.answer();
  await new Promise((resolve) => setImmediate(resolve));
  expect(held.length).toBe(3);
  held[2]!.answer();
  await until(() => held.length === 4);
  for (const { answer } of held) answer();
});

test('streams that wait before their first message keep no room for it, and stop no other call', async () => {
  const waiting: StreamCall[] = [];
  const observe: Method = {
    kind: 'server-stream',
    open(_request, call) {
      waiting.push(call);
      return { message() {}, halfClosed: () => call.waits!(true), drained() {}, closed() {} };
    },
  };
  await using serving = await startServing(serve, { methods: new Map([...echoMethods([]), [OBSERVE, observe]]) });
  using client = await RawClient.open(serving.port);
  // Twice as many as a connection has room for.
  const ids = Array.from({ length: (2 * SEND_QUEUE_MAX_BYTES) / STREAMED_ANSWER_BYTES }, (_, at) => 2 * at + 1);
  for (const id of ids) client.write(client.request(id, OBSERVE, 'x'));
  client.write(client.request(1001, '/test.Echo/Sync', 'hello'));
  expect(await client.outcome(1001)).toBe('grpc-status: 0');
  expect(waiting).toHaveLength(ids.length);
  for (const call of waiting) {
    call.waits!(false);
    call.send(Buffer.from('first'));
    call.end();
  }
  for (const id of ids) expect(await client.outcome(id)).toBe('grpc-status: 0');
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { BidiMethod, StreamCall, StreamHandler } from '@engram/wire';
import { etcdserverpb } from '@engram/wire';
import { base64, Lines, NodeBehind, textOf } from './support/node-behind.ts';

/* Requests of many answers, on a whole node. */

let node: NodeBehind;
beforeEach(async () => {
  node = await NodeBehind.start();
});
afterEach(() => node[Symbol.asyncDispose]());

const [foo, bar] = [base64('foo'), base64('bar')];
const create = JSON.stringify({ create_request: { key: foo } });
const watchers = (): number => node.backend.watchHub.stats.watchers;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('edge 126: a watch by one request streams lines, and ends with its client', async () => {
  const gone = new AbortController();
  const answer = await node.ask('/v3/watch', create, { signal: gone.signal });
  expect(answer.status).toBe(200);
  const lines = new Lines(answer);
  expect(await lines.next()).toEqual({ result: { header: expect.anything(), created: true } });
  await node.json('/v3/kv/put', { key: foo, value: bar });
  expect(await lines.next()).toMatchObject({
    result: { events: [{ kv: { key: foo, value: bar, mod_revision: '2' } }] },
  });
  await node.json('/v3/kv/deleterange', { key: foo });
  expect(await lines.next()).toMatchObject({
    result: { events: [{ type: 'DELETE', kv: { key: foo, mod_revision: '3' } }] },
  });
  expect(watchers()).toBe(1);
  gone.abort();
  expect(await lines.next()).toBeUndefined();
  await turn();
  expect([watchers(), node.answerBytes.used]).toEqual([0, 0]);
});

test('a watch whose client leaves before it takes anything is freed', async () => {
  const gone = new AbortController();
  await node.ask('/v3/watch', create, { signal: gone.signal });
  expect(watchers()).toBe(1);
  gone.abort();
  await turn();
  expect([watchers(), node.answerBytes.used]).toEqual([0, 0]);
});

test('several requests of a body are read one after another, with or without lines', async () => {
  const two = `${create}${create}\n\n {"cancel_request":{"watch_id":0}} {"progress_request":{}}`;
  const lines = new Lines(await node.ask('/v3/watch', two));
  expect(await lines.next()).toMatchObject({ result: { created: true } });
  expect(await lines.next()).toMatchObject({ result: { created: true, watch_id: '1' } });
  expect(await lines.next()).toMatchObject({ result: { canceled: true } });
  expect(await lines.next()).toMatchObject({ result: { watch_id: '-1' } });
  await lines.leave();
  await turn();
  expect(watchers()).toBe(0);
});

test('renewals are answered in order, and the stream ends with them', async () => {
  await node.json('/v3/lease/grant', { ID: 7, TTL: 60 });
  const answer = await node.ask('/v3/lease/keepalive', '{"ID":7}{"ID":"8"}');
  const lines = (await textOf(answer))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([{ result: { ID: '7', TTL: '60' } }, { result: { ID: '8' } }]);
});

test('a stream without a request is an empty answer', async () => {
  const answer = await node.ask('/v3/lease/keepalive', '');
  expect([answer.status, answer.headers, await textOf(answer)]).toEqual([200, {}, '']);
});

test('a snapshot comes as lines', async () => {
  await node.json('/v3/kv/put', { key: foo, value: bar });
  const answer = await node.ask('/v3/maintenance/snapshot', '{}');
  const lines = (await textOf(answer))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const bytes = Buffer.concat(lines.map(({ result }) => Buffer.from(result.blob ?? '', 'base64')));
  // A database of whole pages, and its hash.
  expect(bytes.length % 4096).toBe(32);
  expect(lines[0].result.remaining_bytes).toMatch(/^\d+$/);
});

test('what is no JSON ends a stream with an error, as its status if nothing was sent', async () => {
  const refused = await node.ask('/v3/watch', '{"create_request":');
  expect([refused.status, await textOf(refused)]).toEqual([
    400,
    '{"error":{"code":3,"message":"Failed to decode request: unexpected EOF"}}\n',
  ]);
  const lines = new Lines(await node.ask('/v3/watch', `${create}x`));
  expect(await lines.next()).toMatchObject({ result: { created: true } });
  expect(await lines.next()).toMatchObject({ error: { code: 3 } });
  expect(await lines.next()).toBeUndefined();
  await turn();
  expect(watchers()).toBe(0);
});

test('what is no request of a method that takes one gets the error of any call, also where its answers are a stream', async () => {
  for (const path of ['/v3/maintenance/snapshot', '/v3/election/observe']) {
    const refused = await node.ask(path, '{');
    expect([refused.status, await textOf(refused)]).toEqual([400, '{"code":3,"message":"unexpected EOF"}']);
  }
});

test('a stream that is refused has the status of its error', async () => {
  const refusing: BidiMethod = {
    kind: 'bidi',
    open() {
      throw new Error('no');
    },
  };
  await using other = await NodeBehind.start({ methods: new Map([['/etcdserverpb.Watch/Watch', refusing]]) });
  const answer = await other.ask('/v3/watch', create);
  expect([answer.status, await textOf(answer)]).toEqual([500, '{"error":{"code":2,"message":"no"}}\n']);
});

test('a stream whose client is gone before it begins is neither admitted nor opened', async () => {
  const told: string[] = [];
  const method: BidiMethod = {
    kind: 'bidi',
    hooks: {
      begin: () => void told.push('begin'),
      admit: () => void told.push('admit'),
      end: () => void told.push('end'),
    },
    open() {
      told.push('open');
      throw new Error('no');
    },
  };
  await using other = await NodeBehind.start({ methods: new Map([['/etcdserverpb.Watch/Watch', method]]) });
  await other.ask('/v3/watch', create, { signal: AbortSignal.abort() });
  await turn();
  expect(told).toEqual(['begin', 'end']);
});

test('a stream whose answers nobody takes any more ends as cancelled, also before it is known that its client is gone', async () => {
  const ends: number[] = [];
  const method = new Scripted();
  const counted: BidiMethod = {
    kind: 'bidi',
    hooks: { end: (_call, { code }) => void ends.push(code) },
    open: (call) => method.open(call),
  };
  await using other = await NodeBehind.start({ methods: new Map([['/etcdserverpb.Watch/Watch', counted]]) });
  const asked = other.ask('/v3/watch', '{}');
  for (let sent = 0; sent < 2; sent += 1) method.call!.send(etcdserverpb.encodeWatchResponse({ created: true }));
  const lines = new Lines(await asked);
  await lines.next();
  await lines.leave();
  expect([ends, method.call!.signal.aborted, other.answerBytes.used]).toEqual([[1], true, 0]);
  await turn();
  expect(method.events.at(-1)).toBe('closed');
});

test('streams end with UNAVAILABLE when the gateway stops', async () => {
  const lines = new Lines(await node.ask('/v3/watch', create));
  await lines.next();
  node.gateway.stop();
  expect(await lines.next()).toEqual({ error: { code: 14, message: 'etcdserver: server stopped' } });
  expect(await lines.next()).toBeUndefined();
});

test('a socket whose client has said nothing is told that the gateway stops', async () => {
  const { pieces } = node.gateway.socket(node.request('/v3/kv/range', ''));
  const told = (async (): Promise<string> => {
    let text = '';
    for await (const { bytes } of pieces) text += Buffer.from(bytes).toString();
    return text;
  })();
  node.gateway.stop();
  expect(JSON.parse(await told)).toEqual({ code: 14, message: 'etcdserver: server stopped' });
});

test('a stream ends at the deadline that its client names', async () => {
  const lines = new Lines(await node.ask('/v3/watch', create, { headers: { 'grpc-timeout': '20m' } }));
  await lines.next();
  expect(await lines.next()).toEqual({ error: { code: 4, message: 'context deadline exceeded' } });
  await turn();
  expect(watchers()).toBe(0);
});

/** A method that sends what a test tells it to, and notes its events. */
class Scripted implements BidiMethod {
  readonly kind = 'bidi';
  readonly events: string[] = [];
  call: StreamCall | undefined;

  open(call: StreamCall): StreamHandler {
    this.call = call;
    const note = (event: string) => () => void this.events.push(event);
    return {
      message: (bytes) => void this.events.push(`message of ${bytes.length}`),
      halfClosed: note('half closed'),
      drained: note('drained'),
      closed: note('closed'),
    };
  }
}

test('messages wait as they are while the client takes nothing, and the handler is told when there is room', async () => {
  const method = new Scripted();
  await using other = await NodeBehind.start({ methods: new Map([['/etcdserverpb.Watch/Watch', method]]) });
  const asked = other.ask('/v3/watch', '{}');
  const message = etcdserverpb.encodeWatchResponse({ cancelReason: 'x'.repeat(40_000) });
  for (let sent = 0; sent < 3; sent += 1) method.call!.send(message);
  const { call } = method;
  expect([call!.queuedBytes, other.answerBytes.used]).toEqual([3 * message.length, 3 * message.length]);
  const lines = new Lines(await asked);
  await lines.next();
  expect(call!.queuedBytes).toBeGreaterThan(64 * 1024);
  expect(method.events).not.toContain('drained');
  await lines.next();
  await lines.next();
  call!.send(etcdserverpb.encodeWatchResponse({ created: true }));
  expect(await lines.next()).toEqual({ result: { created: true } });
  expect(method.events.filter((event) => event === 'drained')).toHaveLength(1);
  call!.end();
  expect(await lines.next()).toBeUndefined();
  expect([call!.queuedBytes, other.answerBytes.used]).toEqual([0, 0]);
  expect(method.events.at(-1)).toBe('closed');
});

test('a stream is crowded while it holds more than its share, and is told when it does not', async () => {
  const method = new Scripted();
  await using other = await NodeBehind.start({ methods: new Map([['/etcdserverpb.Watch/Watch', method]]) });
  const answerBytes = { mayGrow: true, refused: () => {}, hold: () => {}, end: () => {} };
  const asked = other.ask('/v3/watch', '{}', { answerBytes: answerBytes as never });
  method.call!.send(etcdserverpb.encodeWatchResponse({ created: true }));
  answerBytes.mayGrow = false;
  expect(method.call!.crowded).toBe(true);
  const lines = new Lines(await asked);
  await lines.next();
  answerBytes.mayGrow = true;
  const next = lines.next();
  await turn();
  await turn();
  expect(method.events).toContain('drained');
  method.call!.end();
  await next;
});

test('requests of a stream wait while its answers are not taken', async () => {
  const method = new Scripted();
  await using other = await NodeBehind.start({ methods: new Map([['/etcdserverpb.Watch/Watch', method]]) });
  const asked = other.ask('/v3/watch', '{"progress_request":{}}{"progress_request":{}}');
  method.call!.send(etcdserverpb.encodeWatchResponse({ cancelReason: 'x'.repeat(100_000) }));
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(method.events).toEqual(['message of 2']);
  const lines = new Lines(await asked);
  await lines.next();
  const next = lines.next();
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(method.events).toEqual(['message of 2', 'drained', 'message of 2', 'half closed']);
  method.call!.end();
  await next;
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { base64, Lines, NodeBehind } from './support/node-behind.ts';

/* Lock and Election through the gateway: calls that wait, and what ends them. */

let node: NodeBehind;
beforeEach(async () => {
  node = await NodeBehind.start();
  for (const ID of ['1', '2']) await say('/v3/lease/grant', { ID, TTL: '600' });
});
afterEach(() => node[Symbol.asyncDispose]());

const [m, bar] = [base64('m'), base64('bar')];
const say = async (path: string, body: object): Promise<Record<string, unknown>> => (await node.json(path, body)).json;
const watchers = (): number => node.backend.watchHub.stats.watchers;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
async function untilOneWaits(): Promise<void> {
  while (watchers() === 0) await turn();
}
const lockBody = JSON.stringify({ name: m, lease: '2' });

test('a lock is taken, waited for, and handed on', async () => {
  expect(await say('/v3/lock/lock', { name: m, lease: '1' })).toMatchObject({ key: base64('m/1') });
  const second = say('/v3/lock/lock', { name: m, lease: '2' });
  await untilOneWaits();
  expect(await say('/v3/lock/unlock', { key: base64('m/1') })).toMatchObject({ header: { revision: '4' } });
  expect(await second).toMatchObject({ key: base64('m/2'), header: { revision: '4' } });
  expect(watchers()).toBe(0);
});

test('a client that leaves takes its key along', async () => {
  await say('/v3/lock/lock', { name: m, lease: '1' });
  const gone = new AbortController();
  const waiting = node.ask('/v3/lock/lock', lockBody, { signal: gone.signal });
  await untilOneWaits();
  gone.abort();
  await waiting;
  expect(watchers()).toBe(0);
  expect(await say('/v3/kv/range', { key: base64('m/2') })).not.toHaveProperty('kvs');
});

test('a deadline ends the wait, and takes the key along', async () => {
  await say('/v3/lock/lock', { name: m, lease: '1' });
  const { status, body } = await node.ask('/v3/lock/lock', lockBody, { headers: { 'grpc-timeout': '50m' } });
  expect([status, JSON.parse(String(body))]).toEqual([504, { code: 4, message: 'context deadline exceeded' }]);
  expect(await say('/v3/kv/range', { key: base64('m/2') })).not.toHaveProperty('kvs');
});

test('a gateway that stops ends what waits, and what would begin to', async () => {
  await say('/v3/lock/lock', { name: m, lease: '1' });
  const waiting = node.ask('/v3/lock/lock', lockBody);
  await untilOneWaits();
  const late = node.ask('/v3/election/campaign', JSON.stringify({ name: m, lease: '2' }));
  node.gateway.stop();
  for (const call of [waiting, late]) {
    const { status, body } = await call;
    expect([status, JSON.parse(String(body))]).toEqual([503, { code: 14, message: 'etcdserver: server stopped' }]);
  }
  expect(watchers()).toBe(0);
});

test('edge 134: an election, and a stream of its leaders', async () => {
  const gone = new AbortController();
  const observing = node.ask('/v3/election/observe', JSON.stringify({ name: m }), { signal: gone.signal });
  await untilOneWaits();
  const { leader } = (await say('/v3/election/campaign', { name: m, lease: '1', value: bar })) as {
    leader: object;
  };
  expect(leader).toEqual({ name: m, key: base64('m/1'), rev: '2', lease: '1' });
  const lines = new Lines(await observing);
  expect(await lines.next()).toMatchObject({ result: { kv: { key: base64('m/1'), value: bar } } });
  await say('/v3/election/proclaim', { leader, value: m });
  expect(await lines.next()).toMatchObject({ result: { kv: { value: m } } });
  expect(await say('/v3/election/leader', { name: m })).toMatchObject({ kv: { value: m } });
  await say('/v3/election/resign', { leader });
  expect(await say('/v3/election/leader', { name: m })).toEqual({ code: 2, message: 'election: no leader' });
  gone.abort();
  expect(await lines.next()).toBeUndefined();
  expect(watchers()).toBe(0);
});

import { Prng } from '@engram/sim';
import { expect, test } from 'vitest';
import { base64, NodeBehind, piecesOf } from './support/node-behind.ts';

/* Clients that come, take some of their answers, and leave at any time: by a signal, or because nobody takes the rest. */

const VISITS = 60;
const TURNS_MAX = 30;
const seeds = Array.from({ length: 8 }, (_, at) => at + 1);

const [from, until, name] = [base64('k'), base64('l'), base64('a')];
const watch = JSON.stringify({ create_request: { key: from, range_end: until } });
const long = base64('v'.repeat(30_000));

const asked: readonly (readonly [path: string, body: string])[] = [
  ['/v3/kv/range', JSON.stringify({ key: from, range_end: until })],
  ['/v3/kv/range', 'no JSON'],
  ['/v3/kv/put', JSON.stringify({ key: base64('k1'), value: long })],
  ['/v3/watch', watch],
  ['/v3/watch', `${watch} {"progress_request":{}} {"cancel`],
  ['/v3/watch', JSON.stringify({ create_request: { key: from, range_end: until, start_revision: 2 } })],
  ['/v3/lease/keepalive', '{"ID":7}'.repeat(20)],
  ['/v3/maintenance/snapshot', '{}'],
  ['/v3/lock/lock', JSON.stringify({ name })],
  ['/v3/election/campaign', JSON.stringify({ name, value: name })],
  ['/v3/election/observe', JSON.stringify({ name })],
];

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test.each(seeds)('random clients leave nothing behind (SEED=%d)', async (seed) => {
  const prng = new Prng(seed);
  const open = new Set<object>();
  const counting = { begin: (call: object) => void open.add(call), end: (call: object) => void open.delete(call) };
  await using node = await NodeBehind.start({}, undefined, [{ hooks: () => counting }]);
  for (let key = 0; key < 10; key += 1) await node.json('/v3/kv/put', { key: base64(`k${key}`), value: long });

  async function visit(): Promise<void> {
    const [path, body] = prng.pick(asked);
    const gone = new AbortController();
    const answerBytes = node.answerBytes.share();
    const headers = prng.chance(0.3) ? { 'grpc-metadata-hasleader': 'true' } : {};
    const request = node.request(path, body, { signal: gone.signal, answerBytes, headers });
    if (prng.chance(0.1)) gone.abort();
    const leaving = turns(prng.below(TURNS_MAX)).then(() => gone.abort());
    const pieces = prng.chance(0.5)
      ? saidTo(node.gateway.socket(request), body)
      : piecesOf(await node.gateway.answer(request));
    for (let taken = prng.below(6); taken > 0; taken -= 1) if ((await pieces.next()).done === true) break;
    if (prng.chance(0.5)) await pieces.return(undefined);
    await leaving;
    answerBytes.end();
  }

  await Promise.all(
    Array.from({ length: VISITS }, async () => {
      await turns(prng.below(TURNS_MAX));
      await visit();
    }),
  );
  await turns(TURNS_MAX);
  const { backend, answerBytes } = node;
  const left = { open: open.size, watchers: backend.watchHub.stats.watchers, held: answerBytes.used };
  expect({ ...left, pins: backend.stats.pins }).toEqual({ open: 0, watchers: 0, held: 0, pins: 0 });
});

/** What a socket says to whom has said this. */
async function* saidTo(
  { pieces, message }: ReturnType<NodeBehind['gateway']['socket']>,
  body: string,
): AsyncGenerator<unknown> {
  void message(Buffer.from(body));
  yield* pieces;
}

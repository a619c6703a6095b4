import type { Replica } from '@engram/backend';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import * as peerpb from '../src/gen/peerpb.ts';
import { PeerError, type Peers } from '../src/peers.ts';
import { ReplicaReadiness } from '../src/replica-readiness.ts';

const never = new AbortController().signal;

/** The readiness of a learner that answers as `call` does, at a leader that has applied 100 records. */
function readinessWith(call: Peers['call']): { readonly readiness: ReplicaReadiness; readonly clock: SimClock } {
  const clock = new SimClock();
  const peers: Peers = { call, follow: () => expect.unreachable() };
  const replica = { applied: 100 } as Partial<Replica> as Replica;
  return { readiness: new ReplicaReadiness({ peers, replica, clock }), clock };
}

test.each([
  { position: 0, ready: false },
  { position: 89, ready: false },
  { position: 90, ready: true },
  { position: 120, ready: true },
])('a learner at $position of 100 is ready: $ready', async ({ position, ready }) => {
  const { readiness, clock } = readinessWith(async (_, request) => {
    expect(peerpb.decodeRequest(request).applied).toBeDefined();
    return peerpb.encodeAnswer({ position });
  });
  expect(readiness.isReady(7n), 'before it was asked').toBe(false);
  await clock.run(readiness.ask(7n, never));
  expect(readiness.isReady(7n)).toBe(ready);
  expect(readiness.isReady(8n), 'another learner').toBe(false);
});

test('one that does not answer in a second, or cannot be reached, is not ready, whatever it was before', async () => {
  let call: Peers['call'] = async () => peerpb.encodeAnswer({ position: 100 });
  const { readiness, clock } = readinessWith((...args) => call(...args));
  await clock.run(readiness.ask(7n, never));
  expect(readiness.isReady(7n)).toBe(true);
  call = (_to, _request, signal) =>
    new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  const startMs = clock.nowMs();
  await clock.run(readiness.ask(7n, never));
  expect(clock.nowMs() - startMs).toBe(1000);
  expect(readiness.isReady(7n)).toBe(false);
  call = async () => {
    throw new PeerError('unsent', 'the test says so');
  };
  await clock.run(readiness.ask(7n, never));
  expect(readiness.isReady(7n)).toBe(false);
});

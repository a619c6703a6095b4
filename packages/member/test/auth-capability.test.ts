import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { everyMemberKnowsAuth } from '../src/auth-capability.ts';
import * as peerpb from '../src/gen/peerpb.ts';
import { PeerError, type Peers } from '../src/peers.ts';

/** Asks for members 1, which asks, and 2, whose answers come from `call`. */
function asking(call: (signal: AbortSignal) => Promise<Uint8Array>): { clock: SimClock; knows: Promise<boolean> } {
  const clock = new SimClock();
  const peers: Pick<Peers, 'call'> = { call: (_id, _request, signal = new AbortController().signal) => call(signal) };
  const knows = everyMemberKnowsAuth({
    memberId: 1n,
    members: () => [{ id: 1n }, { id: 2n }],
    peers: peers as Peers,
    clock,
  });
  return { clock, knows };
}

const answer = (knowsAuth: boolean): Uint8Array => peerpb.encodeAnswer({ knowsAuth });
const lost = (): Promise<never> => Promise.reject(new PeerError('lost', 'not connected'));

test('a member that does not know users and roles is told at once', async () => {
  const { knows } = asking(() => Promise.resolve(answer(false)));
  expect(await knows).toBe(false);
});

test('a member that cannot be reached yet is asked again', async () => {
  let asked = 0;
  const { clock, knows } = asking(() => {
    asked += 1;
    return asked < 4 ? lost() : Promise.resolve(answer(true));
  });
  for (let round = 0; round < 3; round += 1) {
    await clock.settle();
    clock.advance(100);
  }
  expect(await knows).toBe(true);
  expect(asked).toBe(4);
});

test('a member that is not reached, or says nothing, counts as one that does not know them, before the request times out', async () => {
  for (const call of [
    lost,
    (signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  ]) {
    const { clock, knows } = asking(call);
    for (let round = 0; round < 60; round += 1) {
      await clock.settle();
      clock.advance(100);
    }
    expect(await knows).toBe(false);
    expect(clock.nowMs()).toBeLessThan(7000);
  }
});

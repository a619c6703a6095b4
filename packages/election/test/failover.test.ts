import type { Logger } from '@engram/core';
import { logPosition } from '@engram/core';
import { Prng, Scheduler, SimHost, SimNetwork } from '@engram/sim';
import { expect, test } from 'vitest';
import { ElectionDriver, type MemberId, MemoryRaftStorage } from '../index.ts';
import { member, optionsOf } from './support/members.ts';

const nobody = (): void => {};
const logger: Logger = { debug: nobody, info: nobody, warn: nobody, error: nobody };
const LINK_MS = 0.5;
const SAVE_MS = 3;
/** The time from a process's death until no more of its messages arrive. */
const GONE_MS = 2 * LINK_MS;

/**
 * Milliseconds from the leader's death to the next `lead`. `seenAfterMs`: how long after `GONE_MS` each follower sees the
 * end of the connection, which comes behind everything that the leader has sent.
 */
async function failoverMs(seed: number, seenAfterMs: readonly [number, number]): Promise<number> {
  const prng = new Prng(seed);
  const scheduler = new Scheduler({ random: prng.fork('order') });
  const network = new SimNetwork(prng.fork('network'));
  network.faults = { delayMsMin: LINK_MS, delayMsMax: LINK_MS, lost: 0, twice: 0 };
  const list = [member(1), member(2), member(3)];
  const hosts = new Map(list.map(({ id, name }) => [id, new SimHost(scheduler, { name, random: prng.fork(name) })]));
  const drivers = new Map<MemberId, ElectionDriver>();
  const leads: { readonly id: MemberId; readonly atMs: number }[] = [];
  for (const { id } of list) {
    const process = hosts.get(id)!.start();
    const storage = new MemoryRaftStorage(undefined, () => process.delay(SAVE_MS));
    const opening = ElectionDriver.open(
      { ...optionsOf(id, 7n), tickMs: 100, firstMembers: list },
      {
        clock: process.clock,
        random: process.random,
        logger,
        storage,
        network: {
          send: (to, bytes) =>
            network.send(process, hosts.get(to)!, () => drivers.get(to)?.receive(bytes, { member: id, dialed: true })),
        },
        owner: {
          lead: (epoch) => {
            leads.push({ id, atMs: scheduler.nowMs });
            drivers.get(id)?.announce(epoch, { segment: 1, position: logPosition(1) });
          },
          stepDown: (epoch) => drivers.get(id)?.resigned(epoch),
          follow: nobody,
          noLeader: nobody,
          clusterChanged: nobody,
          removed: nobody,
          failed: (error) => {
            throw error;
          },
        },
      },
    );
    drivers.set(id, await scheduler.run(opening));
  }
  await scheduler.pass(5000);
  const leader = leads.at(-1)!.id;
  const killedMs = scheduler.nowMs;
  hosts.get(leader)!.process!.kill();
  for (const [at, follower] of list.filter(({ id }) => id !== leader).entries()) {
    hosts
      .get(follower.id)!
      .process!.after(GONE_MS + seenAfterMs[at]!, () => drivers.get(follower.id)!.peerGone(leader));
  }
  while (leads.at(-1)!.id === leader) await scheduler.pass(1);
  return leads.at(-1)!.atMs - killedMs;
}

// The end of a connection, a pre-vote and a vote with their answers, and a save of the term by the candidate and its voter.
const campaignMs = GONE_MS + 4 * LINK_MS + 2 * SAVE_MS;

test.each([
  { seenAfterMs: [0, 0], why: 'both at once' },
  { seenAfterMs: [0, 0.3], why: 'before the pre-vote arrives' },
  { seenAfterMs: [0, 0.7], why: 'while the pre-vote is ignored' },
  { seenAfterMs: [1, 20], why: 'long after each other' },
  { seenAfterMs: [30, 0], why: 'the other way round' },
] as const)('followers that see the death after $seenAfterMs ms elect at once: $why', async ({ seenAfterMs }) => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const ms = await failoverMs(seed, seenAfterMs);
    expect(ms, `seed ${seed}`).toBeLessThanOrEqual(Math.max(...seenAfterMs) + campaignMs + 1);
  }
});

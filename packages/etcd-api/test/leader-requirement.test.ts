import { Loop, type Pace, StepPace } from '@engram/loop';
import { SimClock } from '@engram/sim';
import type { RpcStatus } from '@engram/wire';
import { expect, test } from 'vitest';
import { LeaderRequirement } from '../src/leader-requirement.ts';
import { LoneMember } from '../src/lone-member.ts';
import { member } from './api.ts';
import { FakeCall } from './fake-call.ts';

const ELECTION_MS = 700;

/** A stream whose client wants a leader. Counts how often it is ended. */
class WantingStream extends FakeCall {
  ends = 0;

  constructor() {
    super({ hasleader: 'true' });
  }

  override end(status?: RpcStatus): void {
    this.ends += 1;
    super.end(status);
  }
}

function requirement(pace?: Pace): { clock: SimClock; streams: LeaderRequirement; seen: { leader: bigint } } {
  const clock = new SimClock();
  const seen = { leader: 0n };
  const cluster = new LoneMember({ clusterId: member.clusterId, member: { ...member, id: member.memberId }, term: 4 });
  Object.defineProperty(cluster, 'leaderId', { get: () => seen.leader });
  return {
    clock,
    streams: new LeaderRequirement(cluster, clock, new Loop({ clock, ...(pace && { pace }) }), ELECTION_MS),
    seen,
  };
}

test('a stream that has ended is looked after no more: others go on, and with the last one nothing is left', () => {
  const { clock, streams } = requirement();
  const [gone, open] = [new WantingStream(), new WantingStream()];
  const patient = new FakeCall();
  for (const call of [gone, open, patient]) streams.watch(call);
  expect(clock.waiting, 'one timer for all').toBe(1);
  streams.forget(gone);
  streams.forget(patient);
  clock.advance(3 * ELECTION_MS);
  expect([gone.ends, open.ends]).toEqual([0, 1]);
  expect(patient.status).toBeUndefined();
  streams.forget(open);
  expect(clock.waiting).toBe(0);
  clock.advance(10 * ELECTION_MS);
  expect([gone.ends, open.ends]).toEqual([0, 1]);
});

test('the time without a leader is counted anew for a stream that is opened when none was', () => {
  const { clock, streams, seen } = requirement();
  const first = new WantingStream();
  streams.watch(first);
  clock.advance(2 * ELECTION_MS);
  streams.forget(first);
  const second = new WantingStream();
  streams.watch(second);
  clock.advance(2 * ELECTION_MS);
  expect(second.ends).toBe(0);
  seen.leader = member.memberId;
  clock.advance(ELECTION_MS);
  seen.leader = 0n;
  clock.advance(2 * ELECTION_MS);
  expect(second.ends).toBe(0);
  clock.advance(ELECTION_MS);
  expect([first.ends, second.ends]).toEqual([0, 1]);
});

test('very many streams are ended in slices, and no more once there is a leader', async () => {
  const { clock, streams, seen } = requirement(new StepPace(800));
  const open = Array.from({ length: 1_000 }, () => new WantingStream());
  for (const call of open) streams.watch(call);
  const ended = (): number => open.filter(({ ends }) => ends > 0).length;
  clock.advance(3 * ELECTION_MS);
  expect(ended()).toBe(100);
  await clock.settle(2);
  const some = ended();
  expect(some).toBeGreaterThan(100);
  expect(some).toBeLessThan(1_000);
  seen.leader = member.memberId;
  await clock.settle();
  expect(ended()).toBe(some);
  seen.leader = 0n;
  clock.advance(3 * ELECTION_MS);
  await clock.settle();
  expect(ended()).toBe(1_000);
});

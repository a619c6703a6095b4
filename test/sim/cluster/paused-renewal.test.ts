import { type LeaseId, leaseId } from '@engram/core';
import { nodeItself } from '@engram/backend';
import { expect, test } from 'vitest';
import { Processes } from './processes.ts';

const LEASE = leaseId(7n);
const caller = { ...nodeItself, timeoutMs: undefined };

/** A renewal at the leader, or at a follower, during which the leader is stopped until the lease is revoked elsewhere. */
async function renewed(at: 'a' | 'b', pausedAfterMs: number): Promise<string> {
  const cluster = new Processes({ a: 1n, b: 2n, c: 3n });
  const storeOf = (name: string) => cluster.life(name).member!.member.store;
  const outcome = async (ttl: number | Promise<number>): Promise<string> => {
    try {
      return `lives for ${await ttl} s`;
    } catch (error) {
      return String(error);
    }
  };
  let answer = 'none';
  await cluster.run(async () => {
    cluster.start('a', 1n);
    cluster.start('b', 2n);
    cluster.start('c', 3n);
    await cluster.until(() => ['a', 'b', 'c'].every((name) => cluster.serves(name)));
    await cluster.moveLeader('a');
    await storeOf('a').leaseGrant(LEASE as LeaseId, 600, caller);
    const renewing = outcome(storeOf(at).leaseKeepAlive(LEASE as LeaseId, caller)).then((text) => (answer = text));
    await cluster.wait(pausedAfterMs);
    if (answer !== 'none') return;
    cluster.life('a').process.pause();
    await cluster.until(() => cluster.leads('b') || cluster.leads('c'));
    await storeOf(cluster.leads('b') ? 'b' : 'c').leaseRevoke(LEASE as LeaseId, caller);
    const before = answer;
    cluster.life('a').process.resume();
    await Promise.race([renewing, cluster.wait(20_000)]);
    if (before === 'none') answer = `after the revoke: ${answer}`;
  });
  return answer;
}

test.each(['a', 'b'] as const)(
  'a renewal at %s whose leader slept while the lease was revoked does not say that it lives',
  async (at) => {
    const answers: string[] = [];
    for (let phaseMs = 0.1; phaseMs < 4; phaseMs += 0.05) answers.push(await renewed(at, phaseMs));
    expect(answers.filter((answer) => answer.startsWith('after the revoke')).length).toBeGreaterThan(5);
    expect(answers).not.toContain('after the revoke: lives for 600 s');
  },
);

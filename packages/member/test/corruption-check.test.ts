import { ALARM_CORRUPT, nodeItself } from '@engram/backend';
import { EngramError } from '@engram/core';
import { quiet, SimClock } from '@engram/sim';
import { StorageDivergedError } from '@engram/storage';
import { beforeEach, describe, expect, test } from 'vitest';
import { CorruptionCheck } from '../src/corruption-check.ts';
import * as peerpb from '../src/gen/peerpb.ts';
import { PeerError } from '../src/peers.ts';
import { TestCluster } from './cluster.ts';
import { put } from './requests.ts';

const never = new AbortController().signal;

/** Member 1, which leads, at revision 9, compacted at 5. Each hash is a value, or what answers. */
class Leader {
  readonly clock = new SimClock();
  readonly alarms: bigint[] = [];
  readonly differs: string[] = [];
  readonly asked: string[] = [];
  leads = true;
  /** Its own hashes, one after another; the last one stays. */
  own = [7];
  others = new Map<bigint, number | (() => number)>([
    [2n, 7],
    [3n, 7],
  ]);
  readonly check: CorruptionCheck;

  constructor(intervals = { newestMs: 1000, compactedMs: 0 }) {
    this.check = new CorruptionCheck({
      self: 1n,
      others: () => [...this.others.keys()],
      store: {
        compactRevision: 5 as never,
        hashKv: async (wanted) => {
          const hash = this.own.length > 1 ? this.own.shift()! : this.own[0]!;
          return { hash, hashRevision: (wanted === 0 ? 9 : wanted) as never, compactRevision: 5 as never };
        },
        activateAlarm: async ({ memberId, alarm }) => {
          expect(alarm).toBe(ALARM_CORRUPT);
          this.alarms.push(memberId);
        },
      },
      peers: {
        call: async (member, bytes) => {
          const { revision, compare, expected } = peerpb.decodeRequest(bytes).hashKv!;
          this.asked.push(`${member} at ${revision}${compare ? ` expects ${expected}` : ''}`);
          const answer = this.others.get(member)!;
          try {
            return peerpb.encodeAnswer({ hash: { hash: typeof answer === 'number' ? answer : answer() } });
          } catch (error) {
            if (!(error instanceof EngramError)) throw error;
            return peerpb.encodeAnswer({ error: error.code });
          }
        },
      },
      leads: () => this.leads,
      leader: () => 1n,
      intervals,
      onDiffers: (why) => this.differs.push(why),
      clock: this.clock,
      logger: quiet,
    });
  }
}

const failing = (error: Error) => (): number => {
  throw error;
};
const away = failing(new PeerError('unsent', 'away'));

let leader: Leader;
beforeEach(() => {
  leader = new Leader();
});

describe('a check at the newest revision', () => {
  test('of members that agree raises nothing, and comes again after each interval', async () => {
    await leader.clock.pass(2100);
    expect(leader.alarms).toEqual([]);
    expect(leader.asked).toEqual(['2 at 9', '3 at 9', '2 at 9', '3 at 9']);
  });

  test('names the member that is not with the majority, and tells it what the others have', async () => {
    leader.others.set(3n, 8);
    await leader.clock.pass(1100);
    expect(leader.alarms).toEqual([3n]);
    expect(leader.asked.slice(2)).toEqual(['3 at 9 expects 7']);
    expect(leader.differs).toEqual([]);
  });

  test('names the leader if the others agree, and the leader ends', async () => {
    leader.own = [6];
    await leader.clock.pass(1100);
    expect(leader.alarms).toEqual([1n]);
    expect(leader.differs).toEqual(['the hash of its data at revision 9 is 6, and that of most members 7']);
  });

  test('names the member that differs from the leader where there is no majority, and ends nobody', async () => {
    leader.others.set(2n, away);
    leader.others.set(3n, 8);
    await leader.clock.pass(1100);
    expect(leader.alarms).toEqual([3n]);
    expect(leader.asked).toEqual(['2 at 9', '3 at 9']);
  });

  test('names a leader that reads something else the second time', async () => {
    leader.own = [7, 4];
    await leader.clock.pass(1100);
    expect(leader.alarms).toEqual([1n]);
  });

  test('asks a member that is behind again, and leaves out one that cannot answer', async () => {
    let times = 0;
    leader.others.set(2n, () => {
      times += 1;
      if (times < 4) throw new EngramError('FutureRev');
      return 8;
    });
    leader.others.set(3n, failing(new EngramError('Compacted')));
    await leader.clock.pass(1500);
    expect(leader.asked.filter((one) => one.startsWith('2'))).toHaveLength(4);
    expect(leader.alarms).toEqual([2n]);
  });

  test('is made by the leader alone', async () => {
    leader.leads = false;
    leader.others.set(3n, 8);
    await leader.clock.pass(5000);
    expect(leader.asked).toEqual([]);
  });

  test('ends with its member', async () => {
    leader.check[Symbol.dispose]();
    await leader.clock.pass(5000);
    expect(leader.asked).toEqual([]);
  });
});

test('a check at the last compaction is made once for each, when all have answered', async () => {
  leader = new Leader({ newestMs: 0, compactedMs: 1000 });
  leader.others.set(3n, away);
  await leader.clock.pass(1100);
  leader.others.set(3n, 7);
  await leader.clock.pass(3000);
  expect(leader.asked).toEqual(['2 at 5', '3 at 5', '2 at 5', '3 at 5']);
});

describe('a start', () => {
  test('with the data of the others goes on, also if one does not answer', async () => {
    leader.others.set(3n, away);
    await leader.clock.run(leader.check.checkSelf());
    expect(leader.differs).toEqual([]);
  });

  test('with other data ends', async () => {
    leader.others.set(2n, 8);
    const refused = 'found data inconsistency with peers: 2 at revision 9';
    await expect(leader.clock.run(leader.check.checkSelf())).rejects.toThrow(refused);
    expect(leader.differs).toEqual(['its data at revision 9 is not that of 2']);
  });

  test('waits for a first other member, and not for ever', async () => {
    for (const id of [2n, 3n]) leader.others.set(id, away);
    await leader.clock.run(leader.check.checkSelf());
    expect(leader.clock.nowMs()).toBeGreaterThan(2900);
    expect(leader.clock.nowMs()).toBeLessThan(4000);
  });

  test.each([
    { waits: 'for a first other member', answer: away },
    { waits: 'for a member that is behind', answer: failing(new EngramError('FutureRev')) },
  ])('that is stopped while it waits $waits ends at once', async ({ answer }) => {
    leader.others = new Map([[2n, answer]]);
    const ended = leader.check.checkSelf();
    await leader.clock.pass(50);
    leader.check[Symbol.dispose]();
    await expect(ended).rejects.toMatchObject({ code: 'Stopped' });
  });
});

test('a member that is told what the others have compares itself, and says so', async () => {
  const { check, differs } = leader;
  const asked = { revision: 9, compare: false, expected: 0 };
  expect(await check.answer(asked, 1n, never)).toEqual({ hash: { hash: 7 } });
  expect(await check.answer({ ...asked, compare: true, expected: 7 }, 1n, never)).toEqual({ hash: { hash: 7 } });
  expect(differs).toEqual([]);
  // Who does not lead does not know what most members have.
  await check.answer({ ...asked, compare: true, expected: 8 }, 2n, never);
  expect(leader.differs).toEqual([]);
  await check.answer({ ...asked, compare: true, expected: 8 }, 1n, never);
  expect(differs).toEqual(['the hash of its data at revision 9 is 7, and that of most members 8']);
});

test('in a cluster: a follower whose data differs is named by the alarm CORRUPT, ends, and writes are refused', async () => {
  const cluster = new TestCluster();
  cluster.corruptionChecks = { newestMs: 1000, compactedMs: 0 };
  for (const id of [1n, 2n, 3n]) await cluster.start(id);
  const first = await cluster.leader();
  await cluster.run(first.member.store.txn(put('a', '1'), nodeItself));
  await cluster.pass(3000);
  expect(first.member.store.alarms()).toEqual([]);
  const odd = cluster.running.find((each) => each !== first)!;
  odd.member.store.hashKv = async (wanted) => {
    return { hash: 1, hashRevision: wanted as never, compactRevision: 0 as never };
  };
  await cluster.pass(2500);
  expect(first.member.store.alarms()).toEqual([{ memberId: odd.member.cluster.memberId, alarm: ALARM_CORRUPT }]);
  expect(cluster.fatal[0]).toBeInstanceOf(StorageDivergedError);
  await expect(cluster.run(first.member.store.txn(put('a', '2'), nodeItself))).rejects.toThrow('corrupt cluster');
});

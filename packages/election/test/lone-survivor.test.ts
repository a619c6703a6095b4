import { term } from '@engram/raft-ts';
import { describe, expect, test } from 'vitest';
import {
  afterBatch,
  bootstrapState,
  type ClusterState,
  encodeRaftState,
  goOnAlone,
  loneSurvivorBatch,
  type MemberId,
  MemoryRaftDisk,
  MemoryRaftStorage,
  type RaftState,
  type RaftStorage,
} from '../index.ts';
import { ELECTION_TICKS, id, Members, member } from './support/members.ts';

/** Three members that have led and changed, and what is stored of all of them. */
function lostCluster(): { readonly members: Members; readonly states: readonly RaftState[] } {
  const members = new Members(3);
  const leader = members.elect(1);
  members.tick(5);
  leader.election.set(1, 'name', Uint8Array.of(7));
  members.settle();
  return { members, states: [...members.all.values()].map(({ state }) => state) };
}

describe('a member that goes on alone', () => {
  test('leads by itself, in an epoch above every earlier one, with what the members had agreed on', () => {
    const { members, states } = lostCluster();
    const before = members.get(2).view;
    const self = member(2, { peerUrls: ['http://10.0.0.9:2380'] });
    const batch = loneSurvivorBatch(before.cluster, self, states);
    members.all.delete(id(1));
    members.all.delete(id(3));
    const alone = members.add(id(2), afterBatch(states[1]!, batch));
    members.tick(2 * ELECTION_TICKS);
    const epoch = alone.takeOver();
    members.settle();
    expect(epoch).toBeGreaterThan(Math.max(...states.map(({ hardState }) => hardState.term)));
    expect(alone.view.leader).toBe(id(2));
    expect(alone.view.cluster.members).toEqual([self]);
    expect(alone.view.cluster.removed).toEqual([id(1), id(3)]);
    expect(alone.view.cluster.settings).toEqual(before.cluster.settings);
    alone.takeSeen();
    alone.election.changeMembers(5, {
      kind: 'add',
      id: id(9),
      peerUrls: ['http://127.0.0.1:9'],
      isLearner: true,
    });
    members.settle();
    expect(alone.takeSeen()).toContainEqual({ kind: 'settled', ticket: 5, outcome: { kind: 'done' } });
  });

  test('is above a term in which only a lost member has voted, and above an entry that only one has', () => {
    const { members, states } = lostCluster();
    const [one, ...rest] = states as [RaftState, ...RaftState[]];
    const ahead: RaftState = {
      ...one,
      hardState: { ...one.hardState, term: term(one.hardState.term + 40) },
      entries: [...one.entries, ...one.entries],
    };
    const { hardState, snapshot } = loneSurvivorBatch(members.get(2).view.cluster, member(2), [...rest, ahead]);
    expect(hardState!.term).toBe(one.hardState.term + 41);
    expect(snapshot!.term).toBe(hardState!.term);
    expect(snapshot!.index).toBe(one.snapshot.index + 2 * one.entries.length + 1);
    expect(hardState!.commit).toBe(snapshot!.index);
  });

  test('tells a member that lives after all that it was removed', () => {
    const { members, states } = lostCluster();
    const other = members.get(3);
    members.all.delete(id(1));
    const batch = loneSurvivorBatch(members.get(2).view.cluster, member(2), states);
    const alone = members.add(id(2), afterBatch(states[1]!, batch));
    other.takeSeen();
    members.tick(8 * ELECTION_TICKS);
    expect(other.takeSeen().map(({ kind }) => kind)).toContain('removed');
    expect(alone.view.leader).toBe(id(2));
  });

  test('a learner goes on as a voter', () => {
    const { members, states } = lostCluster();
    const { snapshot } = loneSurvivorBatch(members.get(2).view.cluster, member(2, { isLearner: true }), states);
    expect(snapshot!.conf.voters).toEqual([id(2)]);
  });
});

describe('going on alone', () => {
  /** What is stored of three members, and processes of theirs that live. */
  function stored() {
    const { members, states } = lostCluster();
    const disks = new Map<MemberId, MemoryRaftDisk>();
    for (const [at, state] of states.entries()) {
      const disk = new MemoryRaftDisk();
      disk.bytes = encodeRaftState(state);
      disks.set(id(at + 1), disk);
    }
    const { cluster } = members.get(2).view;
    const storageOf = (member: MemberId): RaftStorage => new MemoryRaftStorage(disks.get(member));
    return { disks, cluster, storageOf };
  }
  const vote = (number: number) => ({
    hardState: { term: term(number), vote: id(1), commit: bootstrapState(1n, []).hardState.commit },
    snapshot: undefined,
    entries: [],
  });

  test('takes the states of all members over: none of their processes saves anything any more', async () => {
    const { cluster, storageOf } = stored();
    const living = [1, 2, 3].map((number) => storageOf(id(number)));
    for (const storage of living) await storage.load();
    const removed = await goOnAlone({
      self: member(2),
      known: [id(1), id(2), id(3)],
      storageOf,
      agreedBy: () => cluster,
    });
    expect(removed).toEqual([id(1), id(3)]);
    for (const storage of living)
      await expect(storage.save(vote(99))).rejects.toMatchObject({ code: 'storage-taken-over' });
    const alone = (await storageOf(id(2)).load())!;
    expect(alone.snapshot.conf.voters).toEqual([id(2)]);
  });

  test('is above a term that another member votes in until its state is taken over', async () => {
    const { cluster, storageOf } = stored();
    const last = storageOf(id(3));
    await last.load();
    const slow = (member: MemberId): RaftStorage => {
      const storage = storageOf(member);
      const load = async (): Promise<RaftState | undefined> => {
        if (member === id(3))
          await last.save({
            ...vote(50),
            hardState: { ...vote(50).hardState, commit: (await peek(storageOf)).hardState.commit },
          });
        return await storage.load();
      };
      return { load, save: (batch) => storage.save(batch), isOwned: (signal) => storage.isOwned(signal) };
    };
    await goOnAlone({ self: member(2), known: [id(1), id(2)], storageOf: slow, agreedBy: () => cluster });
    expect((await storageOf(id(2)).load())!.hardState.term).toBe(51);
  });

  /** The state of the first member, whose process is of no interest. */
  async function peek(storageOf: (member: MemberId) => RaftStorage): Promise<RaftState> {
    return (await storageOf(id(1)).load())!;
  }

  test('takes over members too that were added meanwhile', async () => {
    const { disks, cluster, storageOf } = stored();
    disks.set(id(4), new MemoryRaftDisk());
    const grown: ClusterState = { ...cluster, members: [...cluster.members, member(4)] };
    const living = storageOf(id(4));
    await living.load();
    const removed = await goOnAlone({
      self: member(2),
      known: [id(1), id(2), id(3)],
      storageOf,
      agreedBy: () => grown,
    });
    expect(removed).toEqual([id(1), id(3), id(4)]);
    await expect(living.save(vote(9))).rejects.toMatchObject({ code: 'storage-taken-over' });
  });
});

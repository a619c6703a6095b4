import { epoch, logPosition } from '@engram/core';
import { describe, expect, test } from 'vitest';
import { type Effect, receiverOf } from '../index.ts';
import { ELECTION_TICKS, id, Members, member, raftOf } from './support/members.ts';

const kinds = (effects: readonly Effect[]): readonly string[] => effects.map((effect) => effect.kind);
describe('a leadership', () => {
  test('of a new cluster begins in epoch 2, and is agreed upon by all', () => {
    const members = new Members(3);
    members.tick(ELECTION_TICKS);
    const leader = [...members.all.values()].find((one) => one.view.leader === one.id)!;
    expect(kinds(leader.seen)).toContain('lead');
    expect(leader.view.leadingIn).toBeUndefined();
    leader.takeOver(7);
    members.settle();
    expect(leader.view.leadingIn).toBe(2);
    for (const one of members.all.values()) {
      expect(one.view.cluster.leadership).toEqual({ epoch: 2, holder: leader.id, segment: 1, position: 7 });
      expect(one.view.leader).toBe(leader.id);
    }
  });

  test('is told to followers, with its epoch', () => {
    const members = new Members(3);
    members.elect(1);
    expect(members.get(2).seen).toContainEqual({ kind: 'follow', leader: id(1), epoch: epoch(2) });
  });

  test('ends when Raft ends it, and the next one waits until the store is done', () => {
    const members = new Members(3);
    const old = members.elect(1);
    old.takeSeen();
    members.isolate(1);
    members.tick(2 * ELECTION_TICKS);
    expect(kinds(old.takeSeen())).toEqual(['step-down', 'no-leader']);
    const next = [members.get(2), members.get(3)].find((one) => one.view.leader === one.id)!;
    expect(next.takeOver()).toBeGreaterThan(2);
    members.heal();
    members.tick(2);
    // Node 1 leads Raft again, but its store still steps down from epoch 2.
    expect(next.election.transferTo(id(1))).toBe(true);
    members.settle();
    expect(old.view.leader).toBe(id(1));
    expect(kinds(old.takeSeen())).not.toContain('lead');
    old.election.resigned(epoch(2));
    old.work();
    expect(old.takeSeen()).toEqual([{ kind: 'lead', epoch: old.view.term }]);
  });

  test('that ended while the store was taking over is not announced', () => {
    const members = new Members(3);
    members.tick(ELECTION_TICKS);
    const leader = [...members.all.values()].find((one) => one.view.leader === one.id)!;
    const lead = leader.seen.find((effect) => effect.kind === 'lead')!;
    members.isolate(Number(leader.id));
    members.tick(2 * ELECTION_TICKS);
    leader.election.announce(lead.epoch, { segment: 1, position: logPosition(1) });
    members.heal();
    members.tick(2);
    expect(leader.view.cluster.leadership).toBeUndefined();
  });

  test('whose store gives up goes to another member, in a larger epoch', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    leader.takeSeen();
    leader.election.resigned(epoch(2));
    members.settle();
    const next = [members.get(2), members.get(3)].find((one) => one.view.leader === one.id)!;
    expect(next.takeOver()).toBe(3);
    expect(kinds(leader.seen)).not.toContain('lead');
  });

  test('does not go round where no store can take over', () => {
    const members = new Members(3);
    members.elect(1);
    const start = members.get(1).view.term;
    let leads = 0;
    for (let tick = 0; tick < 4 * ELECTION_TICKS; tick += 1) {
      for (let round = 0; round < 20; round += 1) {
        for (const one of members.all.values()) {
          for (const effect of one.takeSeen()) {
            if (effect.kind !== 'lead') continue;
            leads += 1;
            one.election.resigned(effect.epoch);
          }
        }
        members.settle();
      }
      members.tick();
    }
    // Each member hands over once. From then on a change of leader takes an election timeout.
    expect(leads).toBeGreaterThan(3);
    expect(members.get(1).view.term - start).toBeLessThan(10);
  });

  test('of a lone member begins anew in a larger epoch when its store has given up', () => {
    const members = new Members(1);
    members.elect(1);
    const lone = members.get(1);
    lone.takeSeen();
    lone.election.resigned(epoch(2));
    members.settle();
    expect(kinds(lone.takeSeen())).toEqual(['no-leader']);
    members.tick(ELECTION_TICKS);
    expect(lone.takeOver()).toBe(3);
    members.settle();
    expect(lone.view.leadingIn).toBe(3);
  });

  test('whose store gives up and whose successor is silent ends all the same', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.isolate(1);
    leader.takeSeen();
    leader.election.resigned(epoch(2));
    members.settle();
    // Proposals wait for the transfer; then the leadership is given up.
    expect(leader.view.leader).toBe(id(1));
    members.tick(ELECTION_TICKS + 1, 1);
    expect(leader.view.leader).toBeUndefined();
  });
});

describe('reads', () => {
  test('are confirmed once the leadership is agreed upon, one round for all that wait', () => {
    const members = new Members(3);
    members.tick(ELECTION_TICKS);
    const leader = [...members.all.values()].find((one) => one.view.leader === one.id)!;
    for (let ticket = 1; ticket <= 100; ticket += 1) leader.election.confirm(ticket);
    members.settle();
    expect(kinds(leader.seen)).not.toContain('confirmed');
    const before = leader.outbox.length;
    leader.takeOver();
    let heartbeats = 0;
    members.loses = (message) => {
      if (message.kind === 'raft' && message.message.type === 'heartbeat') heartbeats += 1;
      return false;
    };
    members.settle();
    expect(before).toBe(0);
    expect(heartbeats).toBe(2);
    const confirmed = leader.seen.filter((effect) => effect.kind === 'confirmed');
    expect(confirmed).toEqual([{ kind: 'confirmed', tickets: expect.any(Array), epoch: 2 }]);
    expect(confirmed[0]!.tickets).toHaveLength(100);
  });

  test('that come during a round share the next', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    leader.takeSeen();
    leader.election.confirm(1);
    leader.work();
    // The answers to this round were sent before these reads came.
    leader.election.confirm(2);
    leader.election.confirm(3);
    members.settle();
    expect(leader.takeSeen()).toEqual([
      { kind: 'confirmed', tickets: [1], epoch: 2 },
      { kind: 'confirmed', tickets: [2, 3], epoch: 2 },
    ]);
  });

  test('are confirmed at once by a witness of the same epoch, and by a round otherwise', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    leader.takeSeen();
    leader.election.confirm(1, { member: id(2), epoch: members.get(2).election.epoch });
    leader.work();
    expect(leader.takeSeen()).toEqual([{ kind: 'confirmed', tickets: [1], epoch: 2 }]);
    for (const other of [0, 1, 3]) leader.election.confirm(2 + other, { member: id(2), epoch: epoch(other) });
    leader.work();
    expect(kinds(leader.takeSeen())).not.toContain('confirmed');
    members.settle();
    expect(leader.takeSeen().flatMap((effect) => (effect.kind === 'confirmed' ? effect.tickets : []))).toEqual([
      2, 3, 5,
    ]);
  });

  test('are not confirmed to a leader that is cut off by those who have voted since', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.isolate(1);
    members.tick(ELECTION_TICKS - 1, 2, 3);
    members.elect(2);
    leader.takeSeen();
    leader.election.confirm(1, { member: id(3), epoch: members.get(3).election.epoch });
    leader.work();
    expect(kinds(leader.takeSeen())).not.toContain('confirmed');
  });

  test('wait for the agreement on the leadership, also with a witness', () => {
    const members = new Members(3);
    members.tick(ELECTION_TICKS);
    const leader = [...members.all.values()].find((one) => one.view.leader === one.id)!;
    const other = leader.id === id(2) ? 3 : 2;
    leader.election.confirm(1, { member: id(other), epoch: members.get(other).election.epoch });
    members.settle();
    expect(kinds(leader.seen)).not.toContain('confirmed');
    leader.takeOver();
    members.settle();
    expect(kinds(leader.seen)).toContain('confirmed');
  });

  test('are refused by who does not lead, and by who is cut off', () => {
    const members = new Members(3, { tickMs: 100 });
    const leader = members.elect(1);
    members.get(2).election.confirm(1);
    members.settle();
    expect(members.get(2).takeSeen()).toContainEqual({ kind: 'not-confirmed', tickets: [1], code: 'NotLeader' });
    members.isolate(1);
    leader.takeSeen();
    leader.election.confirm(2);
    members.tick(2 * ELECTION_TICKS, 1);
    expect(leader.takeSeen()).toContainEqual({ kind: 'not-confirmed', tickets: [2], code: 'LeaderChanged' });
  });

  test("end with Timeout after etcd's request timeout, each after its own, while no round can end", () => {
    const members = new Members(3, { tickMs: 100 });
    const dueTicks = 50 + 2 * ELECTION_TICKS;
    // No entry of the term is committed: the others answer heartbeats only, as if they could not save.
    members.loses = (message) => raftOf(message)?.type === 'append-response';
    const leader = members.elect(1);
    leader.takeSeen();
    leader.election.confirm(1);
    members.tick(30);
    leader.election.confirm(2);
    members.tick(dueTicks - 31);
    expect(kinds(leader.takeSeen())).not.toContain('not-confirmed');
    members.tick(1);
    expect(leader.takeSeen()).toContainEqual({ kind: 'not-confirmed', tickets: [1], code: 'Timeout' });
    members.tick(30);
    expect(leader.takeSeen()).toContainEqual({ kind: 'not-confirmed', tickets: [2], code: 'Timeout' });
  });
});

describe('handing over', () => {
  test('to a voter, and to nobody else', () => {
    const members = new Members(3, {}, [member(1), member(2), member(3, { isLearner: true })]);
    const leader = members.elect(1);
    expect(leader.election.transferTo(id(3))).toBe(false);
    expect(leader.election.transferTo(id(9))).toBe(false);
    expect(leader.election.transferTo(id(1))).toBe(true);
    expect(leader.election.handOver()).toBe(true);
    members.settle();
    expect(leader.view.leader).toBe(id(2));
  });

  test('a leader whose storage is unhealthy hands over to one whose storage is not', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.get(2).election.setStorageHealth(false);
    leader.election.setStorageHealth(false);
    members.tick(ELECTION_TICKS - 1);
    expect(leader.view.leader).toBe(id(1));
    members.tick(2);
    expect(leader.view.leader).toBe(id(3));
  });

  test('it does not hand over to who was healthy and is silent', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.get(2).election.setStorageHealth(false);
    members.tick(2);
    let handedOver = 0;
    members.loses = (message, from) => {
      if (raftOf(message)?.type === 'timeout-now') handedOver += 1;
      return from.id === id(3) || receiverOf(message) === id(3);
    };
    members.tick(ELECTION_TICKS + 1, 1, 2);
    leader.election.setStorageHealth(false);
    members.tick(3 * ELECTION_TICKS, 1, 2);
    expect(handedOver).toBe(0);
    expect(leader.view.leader).toBe(id(1));
  });

  test('it stays where storage is unhealthy for all', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    for (const one of members.all.values()) one.election.setStorageHealth(false);
    members.tick(10 * ELECTION_TICKS);
    expect(leader.view.leader).toBe(id(1));
    expect(leader.view.term).toBe(2);
  });

  test('followers that see the leader gone elect another one at once', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.isolate(1);
    members.get(2).election.peerGone(id(1));
    members.settle();
    // Node 3 still hears from node 1, as far as node 3 knows.
    expect(members.get(2).view.leader).toBeUndefined();
    members.get(3).election.peerGone(id(1));
    members.settle();
    const next = members.get(2).view.leader;
    expect(next).toBe(members.get(3).view.leader);
    expect([id(2), id(3)]).toContain(next);
    expect(leader.view.leader).toBe(id(1));
  });

  test('a candidate asks again when the connection to a voter stands', () => {
    const members = new Members(3);
    members.elect(1);
    members.isolate(1);
    members.get(3).election.peerGone(id(1));
    const loses = members.loses;
    members.loses = () => true;
    members.get(2).election.peerGone(id(1));
    members.settle();
    expect(members.get(2).view.leader).toBeUndefined();
    members.loses = loses;
    members.get(2).election.peerConnected(id(3));
    members.settle();
    expect(members.get(2).view.leader).toBe(id(2));
    expect(members.get(3).view.leader).toBe(id(2));
  });

  test('who may not campaign knows of no leader from then on', () => {
    const members = new Members(3, {}, [member(1), member(2), member(3, { isLearner: true })]);
    members.elect(1);
    const learner = members.get(3);
    learner.takeSeen();
    learner.election.peerGone(id(2));
    learner.work();
    expect(learner.takeSeen()).toEqual([]);
    learner.election.peerGone(id(1));
    learner.work();
    expect(learner.takeSeen()).toEqual([{ kind: 'no-leader' }]);
  });

  test('whoever is wrong about it changes nothing', () => {
    const members = new Members(3);
    members.elect(1);
    members.get(2).election.peerGone(id(1));
    members.settle();
    members.tick(1);
    expect(members.get(2).view.leader).toBe(id(1));
    expect(members.get(1).view.term).toBe(2);
  });
});

describe('state', () => {
  test('is there again after a crash of all members', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    leader.election.set(1, 'name', Uint8Array.of(1));
    members.settle();
    members.tick(1);
    members.elect(2);
    for (const one of members.all.values()) {
      expect(one.view.cluster.settings.get('name')).toEqual(Uint8Array.of(1));
      expect(one.view.cluster.leadership?.epoch).toBe(3);
    }
  });

  test('a vote leaves only after it is saved', () => {
    const members = new Members(3);
    members.get(2).holdsSaves = true;
    members.get(3).holdsSaves = true;
    members.tick(ELECTION_TICKS, 1);
    expect(members.get(1).view.leader).toBeUndefined();
    members.get(2).finishSave();
    members.settle();
    expect(members.get(1).view.leader).toBe(id(1));
  });

  test('its log gives way to snapshots, and who is far behind gets one', () => {
    const members = new Members(3, { snapshotEntries: 10, keptEntries: 2 });
    const leader = members.elect(1);
    members.isolate(3);
    for (let ticket = 0; ticket < 40; ticket += 1) {
      leader.election.set(ticket, 'count', Uint8Array.of(ticket));
      members.settle();
    }
    expect(leader.state.entries.length).toBeLessThan(15);
    members.heal();
    let snapshots = 0;
    members.loses = (message) => {
      const isSnapshot = message.kind === 'raft' && message.message.type === 'snapshot';
      if (isSnapshot) snapshots += 1;
      // The first snapshot is lost.
      return isSnapshot && snapshots === 1;
    };
    members.tick(3 * ELECTION_TICKS);
    expect(snapshots).toBe(2);
    expect(members.get(3).view.cluster.settings.get('count')).toEqual(Uint8Array.of(39));
    members.get(3).crash();
    expect(members.get(3).view.cluster.settings.get('count')).toEqual(Uint8Array.of(39));
  });

  test('of another cluster is refused', () => {
    const members = new Members(1);
    const { state } = members.get(1);
    const others = new Members(2);
    expect(() => others.add(id(1), state)).toThrow('the state of another member');
  });

  test('messages of another cluster are refused', () => {
    const members = new Members(2);
    const other = members.get(2);
    const speaker = { member: id(1), dialed: true };
    expect(other.election.receive({ kind: 'removed', clusterId: 99n, to: id(2) }, speaker)).toMatch('of cluster 63');
    other.work();
    expect(other.takeSeen()).toEqual([]);
  });
});

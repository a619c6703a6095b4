import { AssertionError } from '@engram/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  confState,
  defaultLimits,
  type LogIndex,
  logIndex,
  MemoryLog,
  NEW_HARD_STATE,
  NO_CONF,
  quorumSize,
  RaftError,
  RawNode,
  term,
} from '@engram/raft-ts';
import { afterChange, hasQuorum, isApplicable, quorumIndex } from '../src/conf-state.ts';
import { entryBytes, limitBytes } from '../src/entry.ts';
import { Inflights } from '../src/inflights.ts';
import { Progress } from '../src/progress.ts';
import { ReadRounds } from '../src/read-rounds.ts';
import { UncommittedTail } from '../src/uncommitted-tail.ts';
import { bootstrap, bytes, entriesOf, FixedRandom, id, ids } from './support/group.ts';

const change = (kind: 'add-voter' | 'add-learner' | 'remove' | 'update', node: number) => ({
  kind,
  node: id(node),
  context: new Uint8Array(0),
});

describe('a membership', () => {
  test.each([
    { by: change('add-voter', 4), voters: [1, 2, 4], learners: [3], why: 'joins' },
    { by: change('add-voter', 3), voters: [1, 2, 3], learners: [], why: 'is promoted' },
    { by: change('add-voter', 1), voters: [1, 2], learners: [3], why: 'is there already' },
    { by: change('add-learner', 4), voters: [1, 2], learners: [3, 4], why: 'joins as a learner' },
    { by: change('add-learner', 2), voters: [1], learners: [2, 3], why: 'is demoted' },
    { by: change('remove', 2), voters: [1], learners: [3], why: 'goes' },
    { by: change('remove', 3), voters: [1, 2], learners: [], why: 'goes, a learner' },
    { by: change('remove', 9), voters: [1, 2], learners: [3], why: 'is not there' },
    { by: change('update', 2), voters: [1, 2], learners: [3], why: 'changes nothing' },
  ])('$by.kind $by.node $why', ({ by, voters, learners }) => {
    expect(afterChange(confState(ids(1, 2), ids(3)), by)).toEqual(confState(ids(...voters), ids(...learners)));
  });

  test('never loses its last voter', () => {
    const lone = confState(ids(1), ids(2));
    expect(isApplicable(lone, change('remove', 1))).toBe(false);
    expect(isApplicable(lone, change('add-learner', 1))).toBe(false);
    expect(isApplicable(lone, change('remove', 2))).toBe(true);
    expect(afterChange(lone, change('remove', 1)), 'also if it is committed').toEqual(lone);
  });

  test('any majority before a step and any after it share a node', () => {
    const kinds = fc.constantFrom('add-voter' as const, 'add-learner' as const, 'remove' as const);
    const sets = fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(sets, kinds, fc.integer({ min: 1, max: 6 }), (voters, kind, node) => {
        const before = confState(ids(...voters));
        const step = change(kind, node);
        fc.pre(isApplicable(before, step));
        const after = afterChange(before, step);
        for (const one of majorities(before.voters)) {
          for (const other of majorities(after.voters)) {
            expect(one.some((voter) => other.includes(voter))).toBe(true);
          }
        }
      }),
    );
  });

  test('its quorums are what counting says', () => {
    const indexes = fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(indexes, (list) => {
        const conf = confState(list.map((_, at) => id(at + 1)));
        const indexOf = (voter: bigint): LogIndex => logIndex(list[Number(voter) - 1]!);
        // The slow way: the highest index that enough voters have.
        let expected = 0;
        for (let index = 1; index <= 6; index += 1) {
          if (list.filter((one) => one >= index).length >= quorumSize(conf)) expected = index;
        }
        expect(quorumIndex(conf, indexOf)).toBe(expected);
        expect(hasQuorum(conf, (voter) => indexOf(voter) >= 3)).toBe(expected >= 3);
      }),
    );
    expect(quorumIndex(NO_CONF, () => logIndex(5))).toBe(0);
    expect(hasQuorum(NO_CONF, () => true)).toBe(false);
  });

  function majorities(voters: readonly bigint[]): readonly (readonly bigint[])[] {
    const all: bigint[][] = [];
    for (let mask = 0; mask < 2 ** voters.length; mask += 1) {
      const chosen = voters.filter((_, at) => (mask & (1 << at)) !== 0);
      if (chosen.length > voters.length / 2) all.push(chosen);
    }
    return all;
  }
});

describe('a window of appends', () => {
  test('is full at either bound, and counts what an array would', () => {
    const steps = fc.array(
      fc.record({ add: fc.boolean(), bytes: fc.integer({ min: 1, max: 40 }), by: fc.nat({ max: 4 }) }),
    );
    fc.assert(
      fc.property(
        steps,
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 100 }),
        (list, messages, bytesMax) => {
          const window = new Inflights(messages, bytesMax);
          let model: { readonly last: number; readonly bytes: number }[] = [];
          let last = 0;
          for (const { add, bytes: size, by } of list) {
            const isFull = model.length === messages || model.reduce((sum, one) => sum + one.bytes, 0) >= bytesMax;
            expect(window.full).toBe(isFull);
            if (add && !isFull) {
              last += 1 + by;
              window.add(logIndex(last), size);
              model.push({ last, bytes: size });
            } else {
              const through = (model[0]?.last ?? 0) + by;
              window.freeThrough(logIndex(through));
              model = model.filter((one) => one.last > through);
            }
            expect(window.count).toBe(model.length);
          }
        },
      ),
    );
  });

  test('does not take more', () => {
    const window = new Inflights(1, 10);
    window.add(logIndex(1), 1);
    expect(() => window.add(logIndex(2), 1)).toThrow(AssertionError);
    window.clear();
    window.add(logIndex(2), 1);
    expect(window.count).toBe(1);
  });
});

describe("a follower's progress", () => {
  const make = (next: number): Progress => new Progress(logIndex(next), new Inflights(2, 1000));

  test('probes once for each heartbeat, then replicates in a window', () => {
    const progress = make(5);
    expect(progress.paused).toBe(false);
    progress.sentEntries(1, 10);
    expect(progress).toMatchObject({ paused: true, next: 5, state: 'probe' });
    progress.resume();
    expect(progress.paused).toBe(false);
    expect(progress.acknowledged(logIndex(5))).toBe(true);
    progress.becomeReplicate();
    progress.sentEntries(2, 10);
    progress.sentEntries(1, 10);
    expect(progress).toMatchObject({ next: 9, paused: true, inflightCount: 2 });
    expect(progress.acknowledged(logIndex(7))).toBe(true);
    expect(progress).toMatchObject({ match: 7, next: 9, paused: false, inflightCount: 1 });
    expect(progress.acknowledged(logIndex(7))).toBe(false);
  });

  test.each([
    { rejected: 4, guess: 2, next: 3, why: 'where it may agree' },
    { rejected: 4, guess: 9, next: 4, why: 'at least one back' },
    { rejected: 3, guess: 1, next: undefined, why: 'an answer to an earlier probe' },
  ])('a probe at 4 rejected at $rejected goes on at $next: $why', ({ rejected, guess, next }) => {
    const progress = make(5);
    progress.sentEntries(1, 10);
    expect(progress.rejected(logIndex(rejected), logIndex(guess))).toBe(next !== undefined);
    expect(progress.next).toBe(next ?? 5);
    expect(progress.paused).toBe(next === undefined);
  });

  test('never goes back behind what was acknowledged', () => {
    const progress = make(5);
    progress.acknowledged(logIndex(6));
    progress.becomeReplicate();
    progress.sentEntries(3, 10);
    expect(progress.rejected(logIndex(6), logIndex(1))).toBe(false);
    expect(progress.rejected(logIndex(9), logIndex(1))).toBe(true);
    expect(progress).toMatchObject({ state: 'probe', next: 7 });
    expect(progress.rejected(logIndex(6), logIndex(1))).toBe(true);
    expect(progress.next).toBe(7);
  });

  test('waits while a snapshot is on its way, and goes on behind it or where it was', () => {
    for (const failed of [false, true]) {
      const progress = make(5);
      progress.becomeSnapshot(logIndex(20));
      expect(progress.paused).toBe(true);
      progress.resume();
      expect(progress.paused).toBe(true);
      expect(progress.rejected(logIndex(20), logIndex(1))).toBe(false);
      if (failed) progress.snapshotFailed();
      else progress.becomeProbe();
      expect(progress).toMatchObject({ state: 'probe', next: failed ? 1 : 21 });
    }
  });

  test('knows when an empty append would bring news', () => {
    const progress = make(5);
    progress.acknowledged(logIndex(4));
    expect(progress.needsCommit(logIndex(3))).toBe(true);
    progress.sentCommit(logIndex(3));
    expect(progress.needsCommit(logIndex(3))).toBe(false);
    expect(progress.needsCommit(logIndex(4))).toBe(true);
    progress.sentCommit(logIndex(4));
    // A higher commit is of no use: the follower's log ends there.
    expect(progress.needsCommit(logIndex(9))).toBe(false);
  });
});

describe('rounds of reads', () => {
  const all = () => true;
  const read = (text: string) => ({ from: id(1), context: bytes(text) });

  test('share what waits, one round at a time, and have a bound', () => {
    const rounds = new ReadRounds(2);
    expect(rounds.begin(logIndex(3), id(1))).toBe(false);
    rounds.add(read('a'));
    expect(rounds.begin(logIndex(3), id(1))).toBe(true);
    expect([rounds.add(read('b')), rounds.add(read('c')), rounds.add(read('d'))]).toEqual([true, true, false]);
    expect(rounds.begin(logIndex(4), id(1))).toBe(false);
    expect(rounds.finish((confirmed) => confirmed.size === 2)).toBeUndefined();
    rounds.confirmedBy(id(2), 0);
    expect(rounds.finish((confirmed) => confirmed.size === 2)).toBeUndefined();
    rounds.confirmedBy(id(2), 1);
    expect(rounds.finish((confirmed) => confirmed.size === 2)).toMatchObject({ index: 3, requests: [read('a')] });
    expect(rounds.begin(logIndex(5), id(1))).toBe(true);
    // Late answers of the first round.
    rounds.confirmedBy(id(2), 1);
    expect(rounds.finish((confirmed) => confirmed.size === 2)).toBeUndefined();
    expect(rounds.finish(all)).toMatchObject({ index: 5, requests: [read('b'), read('c')] });
    expect(rounds.finish(all)).toBeUndefined();
    expect(rounds.number).toBe(2);
  });
});

test('the uncommitted tail has a bound, but for one proposal and empty ones', () => {
  const tail = new UncommittedTail(10);
  expect(tail.hasRoom(1000)).toBe(true);
  tail.add(logIndex(5), 8);
  expect([tail.hasRoom(0), tail.hasRoom(2), tail.hasRoom(3)]).toEqual([true, true, false]);
  tail.add(logIndex(6), 0);
  tail.add(logIndex(7), 2);
  tail.committed(logIndex(5));
  expect([tail.hasRoom(8), tail.hasRoom(9)]).toEqual([true, false]);
  tail.committed(logIndex(99));
  expect(tail.hasRoom(1000)).toBe(true);
});

test('entries are limited by bytes, but for the first', () => {
  const entries = entriesOf([1, 1, 1]);
  const size = entryBytes(entries[0]!);
  expect([0, size, 2 * size - 1, 2 * size, 99 * size].map((max) => limitBytes(entries, max).length)).toEqual([
    1, 1, 1, 2, 3,
  ]);
  expect(limitBytes([], 0)).toEqual([]);
});

describe('a log in memory', () => {
  const conf = confState(ids(1));
  const nothing = { hardState: undefined, snapshot: undefined, entries: [], mustSync: true, messages: [] };

  test('replaces from the first entry on, and refuses gaps', () => {
    const log = new MemoryLog(bootstrap(conf), entriesOf([1, 1, 1]));
    log.save({ ...nothing, entries: entriesOf([2], 3) });
    expect([log.lastIndex(), log.term(logIndex(2)), log.term(logIndex(3)), log.term(logIndex(4))]).toEqual([
      3,
      1,
      2,
      undefined,
    ]);
    expect(() => log.save({ ...nothing, entries: entriesOf([2], 9) })).toThrow(AssertionError);
    expect(() => log.entries(logIndex(1), logIndex(3), 100)).toThrow(AssertionError);
  });

  test('gives way to a snapshot, and is as committed as that', () => {
    const log = new MemoryLog(bootstrap(conf), entriesOf([1, 1, 1]), NEW_HARD_STATE);
    const snapshot = { index: logIndex(9), term: term(3), conf, data: bytes('nine') };
    log.save({ ...nothing, snapshot });
    expect([log.firstIndex(), log.lastIndex(), log.term(logIndex(9)), log.hardState.commit]).toEqual([10, 9, 3, 9]);
    expect(log.snapshot()).toBe(snapshot);
  });

  test('is compacted up to its snapshot at most', () => {
    const log = new MemoryLog(bootstrap(conf), entriesOf([1, 2, 2]));
    expect(() => log.compact(logIndex(2))).toThrow(AssertionError);
    expect(() => log.setSnapshot({ index: logIndex(3), term: term(9), conf, data: bytes('') })).toThrow(AssertionError);
    log.setSnapshot({ index: logIndex(3), term: term(2), conf, data: bytes('') });
    log.compact(logIndex(2));
    log.compact(logIndex(1));
    expect([log.firstIndex(), log.lastIndex(), log.term(logIndex(2)), log.term(logIndex(1))]).toEqual([
      3,
      4,
      1,
      undefined,
    ]);
  });
});

test.each([
  { options: { id: id(0) }, why: 'id' },
  { options: { electionTicks: 3, heartbeatTicks: 3 }, why: 'electionTicks' },
  { options: { heartbeatTicks: 0 }, why: 'heartbeatTicks' },
  { options: { inflightBytesMax: 10 }, why: 'inflightBytesMax' },
  { options: { messageBytesMax: 0.5 }, why: 'messageBytesMax' },
  { options: { waitingReadsMax: 0 }, why: 'waitingReadsMax' },
])('options that contradict each other are refused: $why', ({ options, why }) => {
  const log = new MemoryLog(bootstrap(confState(ids(1))));
  const make = (): RawNode =>
    new RawNode({ ...defaultLimits, id: id(1), random: new FixedRandom(), ...options }, log, {
      hardState: NEW_HARD_STATE,
      conf: confState(ids(1)),
      applied: logIndex(1),
    });
  expect(make).toThrow(RaftError);
  expect(make).toThrow(why);
});

test('a hard state that speaks of entries which are not there is refused', () => {
  const log = new MemoryLog(bootstrap(confState(ids(1))));
  const hardState = { term: term(3), vote: undefined, commit: logIndex(7) };
  const make = (): RawNode =>
    new RawNode({ ...defaultLimits, id: id(1), random: new FixedRandom() }, log, {
      hardState,
      conf: confState(ids(1)),
      applied: logIndex(1),
    });
  expect(make).toThrow('committed up to 7, but the log ends at 1');
});

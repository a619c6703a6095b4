import { type Entry, logIndex, term } from '@engram/raft-ts';
import { describe, expect, test } from 'vitest';
import { raftStorageContract } from '../contract.ts';
import { afterBatch, MemoryRaftDisk, MemoryRaftStorage, NEW_RAFT_STATE } from '../index.ts';

raftStorageContract('memory', async () => {
  const disk = new MemoryRaftDisk();
  return { open: async () => new MemoryRaftStorage(disk), [Symbol.asyncDispose]: async () => {} };
});

const batch = {
  hardState: { ...NEW_RAFT_STATE.hardState, commit: NEW_RAFT_STATE.snapshot.index },
  snapshot: undefined,
  entries: [],
};

describe('what a batch makes of a state', () => {
  const nothing = { hardState: undefined, snapshot: undefined, entries: [] };
  const entry = (index: number, ofTerm: number): Entry => ({
    kind: 'normal',
    index: logIndex(index),
    term: term(ofTerm),
    data: Uint8Array.of(index),
  });
  const snapshot = (index: number, ofTerm: number) => ({
    ...NEW_RAFT_STATE.snapshot,
    index: logIndex(index),
    term: term(ofTerm),
  });
  /** Behind a snapshot at 1@1: 2@1, 3@1, 4@2. */
  const state = afterBatch(NEW_RAFT_STATE, {
    ...nothing,
    snapshot: snapshot(1, 1),
    entries: [entry(2, 1), entry(3, 1), entry(4, 2)],
  });

  test.each([
    { batch: { ...nothing, entries: [entry(5, 2)] }, left: [2, 3, 4, 5], why: 'entries go on' },
    { batch: { ...nothing, entries: [entry(3, 3)] }, left: [2, 3], why: 'entries take the place of others' },
    { batch: { ...nothing, snapshot: snapshot(3, 1) }, left: [4], why: 'a snapshot of this log' },
    { batch: { ...nothing, snapshot: snapshot(3, 2) }, left: [], why: 'a snapshot of another log' },
    { batch: { ...nothing, snapshot: snapshot(1, 1) }, left: [2, 3, 4], why: 'the snapshot that it has' },
    { batch: { ...nothing, snapshot: snapshot(9, 2) }, left: [], why: 'a snapshot behind its end' },
    {
      batch: { ...nothing, snapshot: snapshot(3, 1), entries: [entry(4, 3), entry(5, 3)] },
      left: [4, 5],
      why: 'a snapshot, and entries that take the place of what follows it',
    },
  ])('$why: $left', ({ batch, left }) => {
    const after = afterBatch(state, batch);
    expect(after.entries.map(({ index }) => index)).toEqual(left);
    expect(after.snapshot).toEqual(batch.snapshot ?? state.snapshot);
    expect(after.hardState).toEqual(state.hardState);
  });

  test('a gap is an assertion', () => {
    expect(() => afterBatch(state, { ...nothing, entries: [entry(6, 2)] })).toThrow('a gap');
    expect(() => afterBatch(state, { ...nothing, snapshot: snapshot(9, 2), entries: [entry(9, 2)] })).toThrow('a gap');
  });
});

test('a save that was under way at the take-over changes nothing', async () => {
  const disk = new MemoryRaftDisk();
  const gate = Promise.withResolvers<void>();
  const old = new MemoryRaftStorage(disk, () => gate.promise);
  await old.load();
  const late = old.save(batch);
  await new MemoryRaftStorage(disk).load();
  gate.resolve();
  await expect(late).rejects.toMatchObject({ code: 'storage-taken-over' });
  expect(disk.bytes).toBeUndefined();
});

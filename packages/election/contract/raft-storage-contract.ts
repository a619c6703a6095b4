import { AssertionError } from '@engram/core';
import { confState, type Entry, logIndex, nodeId, type Snapshot, term } from '@engram/raft-ts';
import { describe, expect, test } from 'vitest';
import { afterBatch, ElectionError, NEW_RAFT_STATE, type RaftBatch, type RaftStorage } from '../index.ts';

/** The place of one member's state. It outlives the storages that are opened on it. */
export interface RaftStorageBed extends AsyncDisposable {
  /** Opens a storage as a start of the member does. Storages opened before are not closed. */
  open(): Promise<RaftStorage>;
}

const entry = (index: number, ofTerm: number, bytes = 3): Entry => ({
  kind: 'normal',
  index: logIndex(index),
  term: term(ofTerm),
  data: new Uint8Array(bytes).fill(index),
});
const snapshot = (index: number, ofTerm: number): Snapshot => ({
  index: logIndex(index),
  term: term(ofTerm),
  conf: confState([nodeId(1n), nodeId(2n ** 64n - 1n)], [nodeId(3n)]),
  data: Uint8Array.of(index),
});
const never = new AbortController().signal;
const NOTHING: RaftBatch = { hardState: undefined, snapshot: undefined, entries: [] };
const vote = (ofTerm: number): RaftBatch => ({
  ...NOTHING,
  hardState: { term: term(ofTerm), vote: nodeId(2n), commit: logIndex(1) },
});

/** The contract of `RaftStorage`. `makeBed` is called once for each test. */
export function raftStorageContract(name: string, makeBed: () => Promise<RaftStorageBed>): void {
  describe(`${name}: raft storage`, () => {
    test('a new one has nothing', async () => {
      await using bed = await makeBed();
      expect(await (await bed.open()).load()).toBeUndefined();
    });

    test.each([
      { name: 'a vote', batches: [vote(3)] },
      { name: 'a snapshot', batches: [{ ...vote(1), snapshot: snapshot(1, 1) }] },
      {
        name: 'entries, one batch after another',
        batches: [
          { ...vote(1), snapshot: snapshot(1, 1) },
          { ...NOTHING, entries: [entry(2, 1), entry(3, 1)] },
          { ...vote(2), entries: [entry(4, 2)] },
        ],
      },
      {
        name: 'entries that take the place of others',
        batches: [
          { ...NOTHING, snapshot: snapshot(1, 1), entries: [entry(2, 1), entry(3, 1), entry(4, 1)] },
          { ...vote(2), entries: [entry(3, 2)] },
        ],
      },
      {
        name: 'a snapshot of the log: what follows it stays',
        batches: [
          { ...NOTHING, snapshot: snapshot(1, 1), entries: [entry(2, 1), entry(3, 1), entry(4, 1)] },
          { ...NOTHING, snapshot: snapshot(3, 1), entries: [entry(5, 1)] },
        ],
      },
      {
        name: 'a snapshot of another log: nothing stays',
        batches: [
          { ...NOTHING, snapshot: snapshot(1, 1), entries: [entry(2, 1), entry(3, 1), entry(4, 1)] },
          { ...NOTHING, snapshot: snapshot(3, 2) },
        ],
      },
      {
        name: 'a snapshot behind the end of the log',
        batches: [
          { ...NOTHING, snapshot: snapshot(1, 1), entries: [entry(2, 1)] },
          { ...NOTHING, snapshot: snapshot(9, 2), entries: [entry(10, 2)] },
        ],
      },
      {
        name: 'a change of the membership, and an entry of 100 KB',
        batches: [
          {
            ...NOTHING,
            snapshot: snapshot(1, 1),
            entries: [
              {
                kind: 'conf-change' as const,
                index: logIndex(2),
                term: term(1),
                change: { kind: 'remove' as const, node: nodeId(7n), context: Uint8Array.of(1) },
              },
              entry(3, 1, 100_000),
            ],
          },
        ],
      },
    ])('keeps $name', async ({ batches }) => {
      await using bed = await makeBed();
      const storage = await bed.open();
      await storage.load();
      let expected = NEW_RAFT_STATE;
      for (const batch of batches) {
        await storage.save(batch);
        expected = afterBatch(expected, batch);
        expect(await (await bed.open()).load()).toEqual(expected);
        // The storage that was opened to look has taken the state over, so this one takes it over again.
        expect(await storage.load()).toEqual(expected);
      }
    });

    test('keeps no reference to what it was given', async () => {
      await using bed = await makeBed();
      const storage = await bed.open();
      await storage.load();
      const data = Uint8Array.of(1, 2, 3);
      const saved = storage.save({
        ...NOTHING,
        snapshot: snapshot(1, 1),
        entries: [{ kind: 'normal', index: logIndex(2), term: term(1), data }],
      });
      data.fill(9);
      await saved;
      data.fill(8);
      const state = await (await bed.open()).load();
      expect(state?.entries[0]).toMatchObject({ data: Uint8Array.of(1, 2, 3) });
    });

    test('a save before the first load is an assertion', async () => {
      await using bed = await makeBed();
      const storage = await bed.open();
      await expect(storage.save(vote(1))).rejects.toThrow(AssertionError);
    });

    test('whoever loads it takes it over: the one before saves nothing any more', async () => {
      await using bed = await makeBed();
      const old = await bed.open();
      await old.load();
      await old.save(vote(1));
      const next = await bed.open();
      expect(await next.load()).toEqual(afterBatch(NEW_RAFT_STATE, vote(1)));
      const late = old.save(vote(5));
      await expect(late).rejects.toThrow(ElectionError);
      await expect(late).rejects.toMatchObject({ code: 'storage-taken-over' });
      await next.save(vote(2));
      expect(await (await bed.open()).load()).toEqual(afterBatch(NEW_RAFT_STATE, vote(2)));
    });

    test('the one before is told when it asks', async () => {
      await using bed = await makeBed();
      const [old, next] = [await bed.open(), await bed.open()];
      await old.load();
      expect(await old.isOwned(never)).toBe(true);
      await old.save(vote(1));
      expect(await old.isOwned(never)).toBe(true);
      await next.load();
      expect(await old.isOwned(never)).toBe(false);
      expect(await next.isOwned(never)).toBe(true);
      await old.load();
      expect(await old.isOwned(never)).toBe(true);
      await expect(old.isOwned(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    });
  });
}

import { type CommittedWrite, nodeItself, recallTxn, type TxnResult } from '@engram/backend';
import {
  assert,
  type Compare,
  CompareResult,
  CompareTarget,
  EMPTY_BYTES,
  isEngramError,
  keyBytes,
  keyText,
  NO_LEASE,
  type Op,
  type Revision,
  type Txn,
} from '@engram/core';
import { Prng, Scheduler, SimClock } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { type Node, openNode, plainResult } from './harness.ts';
import { checkQuiet, everything, get, put, putOf, refusal, txnOf } from './ops.ts';
import { randomRangeOp } from './random-ops.ts';

/** A transaction that another member has forwarded: the leader's answer to it, and the write as the log has it. */
interface Passed {
  readonly txn: Txn;
  readonly answer: TxnResult;
  readonly write: CommittedWrite;
}

const origin = { memberId: 2n, sequence: 5 };

async function passOn({ backend, clock }: Node, txn: Txn): Promise<Passed> {
  let write: CommittedWrite | undefined;
  backend.replica.onForwarded = (one) => {
    write = one;
  };
  const answer = await clock.run(backend.txn(txn, { ...nodeItself, origin }));
  assert(write !== undefined, 'the log has brought no write of this member');
  return { txn, answer, write };
}

const recalled = ({ clock, backend }: Node, { txn, write }: Passed): Promise<TxnResult> =>
  clock.run(recallTxn(txn, write, backend.replica, nodeItself));

async function opened(): Promise<Node> {
  const clock = new SimClock({ scheduler: new Scheduler(), turnMs: () => 1 });
  return clock.run(openNode(new MemoryStorage(), { clock, cacheBytesMax: 0, sliceSteps: 1 }));
}

/** Key "k" at revisions 2 to 5, and the transaction at revision 6. */
async function afterReadsOf(...at: readonly number[]): Promise<{ node: Node; passed: Passed }> {
  const node = await opened();
  for (const value of ['a', 'b', 'c', 'd']) await node.clock.run(node.backend.txn(put('k', value), nodeItself));
  const reads = at.map((revision) => everything({ revision }));
  const passed = await passOn(node, txnOf(...reads, putOf('k', 'e', { prevKv: true })));
  return { node, passed };
}

const compact = ({ backend, clock }: Node, at: number): Promise<void> =>
  clock.run(backend.compact(at as Revision, true, nodeItself));

describe('a transaction whose leader did not say what it answered', () => {
  test('is answered as the leader did, while nothing that it reads is compacted', async () => {
    const { node, passed } = await afterReadsOf(3, 4, 0);
    expect(plainResult(await recalled(node, passed))).toEqual(plainResult(passed.answer));
    await compact(node, 3);
    expect(plainResult(await recalled(node, passed))).toEqual(plainResult(passed.answer));
    checkQuiet(node.backend);
  });

  test('keeps the revision before it pinned for every version that it reads', async () => {
    const node = await opened();
    const { pins, scanner } = node.backend.replica;
    await node.clock.run(node.backend.txn(txnOf(putOf('k', 'a'), putOf('l', 'a')), nodeItself));
    const both = txnOf(putOf('k', 'b', { prevKv: true }), putOf('l', 'b', { prevKv: true }));
    const passed = await passOn(node, both);
    const scan = scanner.scan.bind(scanner);
    const isPinned: boolean[] = [];
    const spied = vi.spyOn(scanner, 'scan').mockImplementation((...args) => {
      isPinned.push(pins.holdsBelow(passed.answer.revision));
      return scan(...args);
    });
    expect(plainResult(await recalled(node, passed))).toEqual(plainResult(passed.answer));
    spied.mockRestore();
    expect(isPinned).toEqual([true, true]);
    expect(pins.size).toBe(0);
    checkQuiet(node.backend);
  });

  test.each([
    { what: 'the older of two revisions that it reads', reads: [3, 4], at: 4 },
    { what: 'the revision that it reads, up to the one before it', reads: [3], at: 5 },
    { what: 'the revision before it', reads: [], at: 6 },
  ])('$what is compacted: nobody knows the answer any more', async ({ reads, at }) => {
    const { node, passed } = await afterReadsOf(...reads);
    await compact(node, at);
    expect(await refusal(recalled(node, passed))).toBe('TimeoutDueToLeaderFail');
    checkQuiet(node.backend);
  });

  test('a delete of what an earlier delete has taken has nothing left to answer', async () => {
    const node = await opened();
    for (const key of ['a', 'b', 'c']) await node.clock.run(node.backend.txn(put(key, key), nodeItself));
    const removal = (key: string, end: string): Op => ({
      kind: 'delete-range',
      range: { key: keyBytes(key), end: keyBytes(end) },
      prevKv: true,
    });
    const passed = await passOn(
      node,
      txnOf(removal('a', 'c'), removal('b', 'd'), { kind: 'txn', txn: txnOf(removal('a', 'z')) }),
    );
    const answer = await recalled(node, passed);
    expect(plainResult(answer)).toEqual(plainResult(passed.answer));
    expect(answer.responses).toMatchObject([{ deleted: 2 }, { deleted: 1 }, { responses: [{ deleted: 0 }] }]);
  });

  test('a read between two changes sees the first, and not the second', async () => {
    const node = await opened();
    for (const key of ['a', 'c', 'e']) await node.clock.run(node.backend.txn(put(key, key), nodeItself));
    const reads = [everything(), everything({ limit: 2 }), everything({ keysOnly: true }), everything({ revision: 3 })];
    const passed = await passOn(node, txnOf(putOf('b', 'x'), ...reads, putOf('d', 'y'), get('b')));
    expect(plainResult(await recalled(node, passed))).toEqual(plainResult(passed.answer));
    expect(passed.answer.responses[1]).toMatchObject({ count: 4 });
  });

  test('a read between two changes that is sorted otherwise is not known any more', async () => {
    const node = await opened();
    const byValue = everything({ sortTarget: 4, sortOrder: 1 });
    const passed = await passOn(node, txnOf(putOf('k', 'a'), byValue, putOf('l', 'b')));
    expect(await refusal(recalled(node, passed))).toBe('TimeoutDueToLeaderFail');
  });

  test('an answer for which this node has no room is not told as a refusal: the transaction is done', async () => {
    const node = await opened();
    await node.clock.run(node.backend.txn(put('k', 'x'.repeat(100_000)), nodeItself));
    const { txn, write } = await passOn(node, txnOf(putOf('l', 'a'), get('k')));
    const caller = { ...nodeItself, reserveAnswer: () => false };
    expect(await refusal(node.clock.run(recallTxn(txn, write, node.backend.replica, caller)))).toBe(
      'TimeoutDueToLeaderFail',
    );
    checkQuiet(node.backend);
  });

  test('is answered as the leader did, or not at all, whatever it consists of', async () => {
    let [same, unknown] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const prng = new Prng(seed);
        const node = await opened();
        const { backend, clock } = node;
        for (let step = 0; step < 12; step += 1) {
          const lives = Array.from({ length: 4 }, () => putOf(randomDeleted(prng), `v${step}`));
          const unique = new Map(lives.map((op) => [keyText(op.key), op]));
          await clock.run(backend.txn(txnOf(...unique.values()), nodeItself));
          const passed = await passOn(node, randomChanges(prng, backend.revision));
          const answer = await recalled(node, passed).catch((error: unknown) => {
            if (isEngramError(error, 'TimeoutDueToLeaderFail')) return undefined;
            throw error;
          });
          if (answer === undefined) unknown += 1;
          else {
            expect(plainResult(answer)).toEqual(plainResult(passed.answer));
            same += 1;
          }
        }
        checkQuiet(backend);
      }),
      { numRuns: 100 },
    );
    expect(same).toBeGreaterThan(2 * unknown);
  });
});

/** Keys under "d" are deleted, in ranges that may overlap, and keys under "p" are put, each once in a transaction. */
const randomDeleted = (prng: Prng): string => `d${'abc'[prng.below(3)]!}${'abc'[prng.below(3)]!}`;

function randomChanges(prng: Prng, revision: number): Txn {
  let puts = 0;
  const nested = (depth: number): Txn => {
    const branch = (): Op[] => Array.from({ length: 1 + prng.below(5 - depth) }, () => op(depth));
    return { compares: prng.chance(0.3) ? [exists(randomDeleted(prng))] : [], success: branch(), failure: branch() };
  };
  const op = (depth: number): Op => {
    const dice = prng.below(10);
    if (dice < 3) {
      puts += 1;
      return putOf(`p${puts}`, 'new', { prevKv: prng.chance(0.5) });
    }
    if (dice < 6) {
      const end = prng.chance(0.3) ? EMPTY_BYTES : keyBytes(prng.chance(0.2) ? 'e' : randomDeleted(prng));
      return { kind: 'delete-range', range: { key: keyBytes(randomDeleted(prng)), end }, prevKv: prng.chance(0.6) };
    }
    if (dice < 8 && depth < 2) return { kind: 'txn', txn: nested(depth + 1) };
    const range = { key: keyBytes(prng.pick(['d', 'da', 'p', 'p2'])), end: Uint8Array.of(0) };
    return { ...randomRangeOp(prng, revision - 1, prng.chance(0.8)), range };
  };
  const txn = nested(0);
  // One put that no branch leaves out, so that the log has the transaction.
  return { ...txn, success: [...txn.success, putOf('p0', 'new')], failure: [...txn.failure, putOf('p0', 'new')] };
}

const exists = (key: string): Compare => ({
  range: { key: keyBytes(key), end: EMPTY_BYTES },
  result: CompareResult.GREATER,
  target: CompareTarget.VERSION,
  number: 0,
  lease: NO_LEASE,
  value: EMPTY_BYTES,
});

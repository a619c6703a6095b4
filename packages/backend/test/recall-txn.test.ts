import { type CommittedWrite, nodeItself, recallTxn, type TxnResult } from '@engram/backend';
import { assert, type Revision, type Txn } from '@engram/core';
import { Scheduler, SimClock } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { describe, expect, test, vi } from 'vitest';
import { type Node, openNode, plainResult } from './harness.ts';
import { checkQuiet, everything, get, put, putOf, refusal, txnOf } from './ops.ts';

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
  clock.run(recallTxn(txn, write, backend.replica, nodeItself.signal));

async function opened(): Promise<Node> {
  const clock = new SimClock({ scheduler: new Scheduler(), turnMs: () => 1 });
  return clock.run(openNode(new MemoryStorage(), { clock, cacheBytesMax: 0, sliceMax: 1 }));
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

  test('a read after a change, and before the next one, saw what no revision shows', async () => {
    const node = await opened();
    const passed = await passOn(node, txnOf(putOf('k', 'a'), get('k'), putOf('l', 'b')));
    expect(await refusal(recalled(node, passed))).toBe('TimeoutDueToLeaderFail');
  });
});

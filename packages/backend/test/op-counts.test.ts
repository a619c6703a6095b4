import { nodeItself } from '@engram/backend';
import {
  CompareResult,
  CompareTarget,
  EMPTY_BYTES,
  keyBytes,
  leaseId,
  NO_LEASE,
  type Op,
  type Txn,
} from '@engram/core';
import { MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { openNode } from './harness.ts';
import { everything, get, put, putOf, refusal, remove, txnOf } from './ops.ts';

const PREV = { prevKv: true };
const all = everything();
const removeAll = (prevKv: boolean): Op => ({ kind: 'delete-range', range: all.range, prevKv });
/** Holds for a key that lives, or for one that does not. */
const compare = (key: string, lives: boolean) => ({
  range: { key: keyBytes(key), end: EMPTY_BYTES },
  result: lives ? CompareResult.GREATER : CompareResult.EQUAL,
  target: CompareTarget.VERSION,
  number: 0,
  lease: NO_LEASE,
  value: EMPTY_BYTES,
});
const cas = (compares: Txn['compares'], success: readonly Op[], failure: readonly Op[] = []): Txn => ({
  compares,
  success,
  failure,
});
const holds = compare('a', true);
const fails = compare('a', false);
const nested = (txn: Txn): Op => ({ kind: 'txn', txn });

// What etcd 3.7.3 counts: e2e/differential asks both. Ranges, puts, deletes and txns.
test.each<[name: string, txn: Txn, counts: readonly number[]]>([
  ['a put', put('a', 'x'), [0, 1, 0, 0]],
  ['a put that asks for what it supersedes', put('a', 'x', PREV), [1, 1, 0, 1]],
  ['one that keeps the value', put('a', '', { ignoreValue: true }), [1, 1, 0, 1]],
  ['one that keeps the lease', put('a', 'x', { ignoreLease: true }), [1, 1, 0, 1]],
  ['a delete of nothing', txnOf({ kind: 'delete-range', range: get('no').range, prevKv: false }), [0, 0, 1, 0]],
  ['a delete of one key', remove('a'), [1, 0, 1, 1]],
  ['a delete of all keys', txnOf(removeAll(false)), [0, 0, 1, 0]],
  ['one that asks for them', txnOf(removeAll(true)), [1, 0, 1, 1]],
  ["kube-apiserver's update", cas([holds], [putOf('a', 'y')], [get('a')]), [1, 1, 0, 0]],
  ['one that comes too late', cas([fails], [putOf('a', 'y')], [get('a')]), [2, 0, 0, 0]],
  ['two compares', cas([holds, compare('b', true)], [putOf('a', 'y')]), [2, 1, 0, 1]],
  ['two, and the first one fails', cas([fails, compare('b', true)], [putOf('a', 'y')]), [1, 0, 0, 0]],
  ['two, and the last one fails', cas([holds, compare('b', false)], [putOf('a', 'y')], [get('a')]), [3, 0, 0, 1]],
  ['a compare of a range', cas([{ ...holds, range: all.range }], [putOf('a', 'y')]), [1, 1, 0, 0]],
  ['two operations', txnOf(putOf('a', 'y'), get('b')), [1, 1, 0, 1]],
  ['a range of many', txnOf(putOf('a', 'y'), all), [1, 1, 0, 1]],
  ['a put of a transaction is looked for twice', cas([holds], [putOf('a', 'y', PREV)]), [3, 1, 0, 2]],
  ['one of its deletes once', cas([holds], [removeAll(true)]), [2, 0, 1, 1]],
  ['nested', txnOf(nested(cas([fails], [], [putOf('a', 'y'), get('b')]))), [2, 1, 0, 1]],
  ['nested twice', cas([holds], [nested(cas([holds], [nested(cas([holds], [putOf('a', 'y')]))]))]), [3, 1, 0, 1]],
  ['no write', cas([], [get('a')]), [1, 0, 0, 0]],
  ['no write, and two ranges', cas([], [get('a'), all]), [2, 0, 0, 1]],
  ['no write, and a compare', cas([fails, fails], [get('a')], [all]), [2, 0, 0, 1]],
  ['nothing', cas([], []), [0, 0, 0, 0]],
])('%s: %#', async (_name, txn, counts) => {
  const { backend, counted } = await opened();
  for (const key of ['a', 'b']) await backend.txn(put(key, 'x'), nodeItself);
  const before = counted();
  await backend.txn(txn, nodeItself);
  expect(counted().map((count, at) => count - before[at]!)).toEqual(counts);
});

test('a lease ends with a delete for each of its keys', async () => {
  const { backend, counted } = await opened();
  for (const id of [7n, 8n, 9n]) await backend.leaseGrant(leaseId(id), 100, nodeItself);
  for (const key of ['a', 'b', 'c']) await backend.txn(put(key, 'x', { lease: leaseId(7n) }), nodeItself);
  await backend.txn(put('d', 'x', { lease: leaseId(8n) }), nodeItself);
  const left = [7n, 8n, 9n].map(async (id) => backend.leaseRevoke(leaseId(id), nodeItself));
  await Promise.all(left);
  expect(counted()).toEqual([0, 4, 4, 1]);
});

test('a range counts, also one that is refused; a write that is refused does not', async () => {
  const { backend, counted } = await opened();
  await backend.range(all, nodeItself);
  expect(await refusal((async () => backend.range(get('a', { revision: 99 }), nodeItself))())).toBe('FutureRev');
  for await (const _chunk of backend.rangeStream(all, 1024, nodeItself));
  expect(await refusal(backend.txn(put('a', 'x', { lease: leaseId(404n) }), nodeItself))).toBe('LeaseNotFound');
  expect(counted()).toEqual([3, 0, 0, 0]);
});

async function opened() {
  const counts = [0, 0, 0, 0];
  const add = (...more: readonly number[]): void => {
    for (const [at, count] of more.entries()) counts[at]! += count;
  };
  const { backend } = await openNode(new MemoryStorage(), {
    observer: {
      write: ({ appliedUs, ranges, puts, deletes, txns }) => {
        if (appliedUs >= 0) add(ranges, puts, deletes, txns);
      },
      ranges: (count) => add(count, 0, 0, count > 1 ? 1 : 0),
    },
  });
  return { backend, counted: () => [...counts] };
}

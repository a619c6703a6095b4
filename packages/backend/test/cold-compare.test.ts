import { nodeItself } from '@engram/backend';
import { EMPTY_BYTES, keyBytes, leaseId, type Txn } from '@engram/core';
import { MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { openNode } from './harness.ts';
import { checkQuiet, Gate, put, putOf, refusal } from './ops.ts';

const TIMEOUT_MS = 1000;

const putIfValue = (key: string, value: string, next: string): Txn => ({
  compares: [
    {
      range: { key: keyBytes(key), end: EMPTY_BYTES },
      result: 0,
      target: 3,
      number: 0,
      lease: leaseId(0n),
      value: keyBytes(value),
    },
  ],
  success: [putOf(key, next)],
  failure: [],
});

/** A node that has the value only in storage, whose reads wait until the gate opens. */
async function coldNode() {
  const storage = new MemoryStorage();
  const { backend } = await openNode(storage);
  await backend.txn(put('k', 'a'), nodeItself);
  await backend[Symbol.asyncDispose]();
  const gate = new Gate('get-many');
  const node = await openNode(storage.reopen({ gate: gate.gate, cold: true }), {
    epoch: 2,
    requestTimeoutMs: TIMEOUT_MS,
  });
  gate.shut = true;
  return { ...node, gate };
}

test('a compare whose value storage does not bring ends by the request timeout, and the write never happens', async () => {
  const { backend, clock, gate } = await coldNode();
  const refused = refusal(backend.txn(putIfValue('k', 'a', 'b'), nodeItself));
  let ended = false;
  void refused.then(() => {
    ended = true;
  });
  clock.advance(TIMEOUT_MS - 1);
  await clock.settle();
  expect(ended).toBe(false);
  clock.advance(1);
  await clock.settle();
  expect(ended).toBe(true);
  expect(await refused).toBe('Timeout');
  gate.open();
  await clock.settle();
  expect(backend.revision).toBe(2);
  checkQuiet(backend);
});

test('a compare is decided when storage has brought its value', async () => {
  const { backend, clock, gate } = await coldNode();
  const writing = backend.txn(putIfValue('k', 'a', 'b'), nodeItself);
  clock.advance(TIMEOUT_MS - 1);
  await clock.settle();
  gate.open();
  expect(await writing).toMatchObject({ revision: 3, succeeded: true });
  checkQuiet(backend);
});

import { nodeItself } from '@engram/backend';
import { AssertionError, type EndedWrite, leaseId } from '@engram/core';
import { SimClock } from '@engram/sim';
import { type AppendFault, MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { type Decided, Write } from '../src/decide/write.ts';
import { openNode } from './harness.ts';
import { everything, Gate, put, putOf, refusal, txnOf } from './ops.ts';

const TIMEOUT_MS = 1000;

/** A write, what its caller hears, and whether its pin is given back. */
function newWrite(told: string[]): { write: Write; decided: Decided<string> } {
  const write = new Write(nodeItself, false, 1, () => ({ answer: () => undefined }), {
    resolve: (answer) => told.push(`answered ${String(answer)}`),
    reject: (error) => told.push(`refused ${(error as Error).message}`),
  });
  const pin = { [Symbol.dispose]: () => void told.push('unpinned') };
  return { write, decided: { pin, answer: () => 'yes' } };
}

/** The changes of stage, in their order. */
const changes: Readonly<Record<string, (write: Write, decided: Decided<string>) => void>> = {
  deciding: (write) => write.deciding(),
  decided: (write, decided) => write.decided(decided, decided.answer, 2),
  appending: (write) => write.appending(3),
  durable: (write) => write.durable(4),
  applied: (write) => write.applied(5),
  published: (write) => write.published(6),
  answered: (write) => write.answer(7),
};

test('a write goes through its stages in their order, and has the time of each', () => {
  const told: string[] = [];
  const { write, decided } = newWrite(told);
  for (const [stage, change] of Object.entries(changes)) {
    expect(told).toEqual([]);
    change(write, decided);
    expect(write.stage).toBe(stage);
  }
  expect(write).toMatchObject({
    askedMs: 1,
    decidedUs: 1000,
    appendingUs: 2000,
    durableUs: 3000,
    appliedUs: 4000,
    publishedUs: 5000,
    endedUs: 6000,
  });
  expect(told).toEqual(['answered yes', 'unpinned']);
});

test.each(Object.keys(changes).slice(1))('without the stage before it, %s is an assertion', (stage) => {
  const names = Object.keys(changes);
  const before = names.slice(0, names.indexOf(stage) - 1);
  const { write, decided } = newWrite([]);
  for (const name of before) changes[name]!(write, decided);
  expect(() => changes[stage]!(write, decided)).toThrow(AssertionError);
});

test('a caller hears one thing, whatever comes after it, and the pin is given back once', () => {
  for (const last of ['decided', 'durable', 'applied', 'published']) {
    const told: string[] = [];
    const { write, decided } = newWrite(told);
    for (const [name, change] of Object.entries(changes)) {
      change(write, decided);
      if (name === last) write.tell(new Error('too late'));
    }
    expect(write.stage).toBe('refused');
    write.tell(new Error('again'));
    write.refuse(new Error('again'), 8);
    expect(told).toEqual(['unpinned', 'refused too late']);
  }
});

test('every write ends once, and its times tell where it was', async () => {
  const ended: EndedWrite[] = [];
  const gate = new Gate('append');
  let fault: AppendFault = 'none';
  const clock = new SimClock();
  const { backend } = await openNode(new MemoryStorage({ gate: gate.gate, append: () => fault }), {
    clock,
    requestTimeoutMs: TIMEOUT_MS,
    observer: { write: (write) => ended.push({ ...write, stage: write.stage }) },
    onDeposed: () => {},
  });
  gate.shut = true;
  const slow = backend.txn(txnOf(putOf('a', '1'), putOf('b', '22')), nodeItself);
  await clock.settle();
  clock.advance(100);
  gate.open();
  await slow;
  expect(ended).toMatchObject([{ stage: 'answered', puts: 2, putBytes: 5, deletes: 0 }]);
  const [{ decidedUs, appendingUs, durableUs, appliedUs, publishedUs, endedUs }] = ended as [EndedWrite];
  expect(decidedUs).toBe(0);
  expect(durableUs - appendingUs).toBe(100_000);
  expect([appliedUs, publishedUs, endedUs]).toEqual([durableUs, durableUs, durableUs]);
  await backend.leaseGrant(leaseId(7n), 100, nodeItself);
  await refusal(backend.leaseGrant(leaseId(7n), 100, nodeItself));
  await backend.txn(txnOf({ kind: 'delete-range', range: everything().range, prevKv: false }), nodeItself);
  expect(ended.slice(1)).toMatchObject([
    { stage: 'answered', puts: 0 },
    { stage: 'refused', decidedUs: -1, appliedUs: -1 },
    { stage: 'answered', puts: 0, deletes: 1 }, // one delete of two keys
  ]);
  // Its caller does not wait for it any more, and it takes effect.
  gate.shut = true;
  const late = refusal(backend.txn(put('late', 'x'), nodeItself));
  await clock.settle();
  clock.advance(2 * TIMEOUT_MS);
  expect(await late).toBe('Timeout');
  expect(ended).toHaveLength(4);
  gate.open();
  await clock.settle();
  expect(ended.at(-1)).toMatchObject({ stage: 'refused', puts: 1 });
  expect(ended.at(-1)!.appliedUs).toBeGreaterThan(0);
  // A log that takes no more refuses what it has, and what waits for it.
  fault = 'fenced';
  const fenced = await Promise.all([1, 2].map((at) => refusal(backend.txn(put(`f${at}`, 'x'), nodeItself))));
  expect(fenced).toEqual(['LeaderChanged', 'LeaderChanged']);
  expect(ended).toHaveLength(7);
  expect(ended.slice(5)).toMatchObject([
    { stage: 'refused', durableUs: -1 },
    { stage: 'refused', durableUs: -1 },
  ]);
});

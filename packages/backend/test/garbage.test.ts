import { type LogPosition, logPosition as at } from '@engram/core';
import { expect, test } from 'vitest';
import { Garbage } from '../src/checkpoint/garbage.ts';

const all = (...positions: number[]): LogPosition[] => positions.map(at);

/** Drops at the test's word. */
class Dropping {
  readonly calls: { readonly positions: readonly LogPosition[]; readonly end: (error?: Error) => void }[] = [];
  readonly drop = (positions: readonly LogPosition[]): Promise<void> =>
    new Promise((resolve, reject) => {
      this.calls.push({ positions, end: (error) => (error === undefined ? resolve() : reject(error)) });
    });
}

const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('what a checkpoint covers is dropped, and what lies behind it waits for the next one', async () => {
  const garbage = new Garbage(at(10), all(3, 12));
  garbage.add(all(9, 10, 20));
  const { calls, drop } = new Dropping();
  const dropped = garbage.dropCovered(drop);
  await settle();
  expect(calls.map(({ positions }) => positions)).toEqual([all(3, 9)]);
  calls[0]!.end();
  await dropped;
  expect(garbage.left).toEqual(all(12, 10, 20));
  await garbage.dropCovered(drop);
  expect(calls, 'nothing is covered').toHaveLength(1);
  garbage.cover(at(13));
  expect(garbage.from).toBe(13);
  void garbage.dropCovered(drop);
  await settle();
  expect(calls[1]!.positions).toEqual(all(12, 10));
  expect(() => garbage.cover(at(12))).toThrow('a checkpoint before the newest one');
});

test('a checkpoint that is written during a drop names what storage may not know of yet', async () => {
  const garbage = new Garbage(at(10), all(3));
  const { calls, drop } = new Dropping();
  const dropped = garbage.dropCovered(drop);
  await settle();
  garbage.add(all(4, 11));
  expect(garbage.left.toSorted((left, right) => left - right)).toEqual(all(3, 4, 11));
  calls[0]!.end();
  await dropped;
  expect(garbage.left.toSorted((left, right) => left - right)).toEqual(all(4, 11));
});

test('what could not be dropped is left, and dropped the next time; drops do not overlap', async () => {
  const garbage = new Garbage(at(10), all(3));
  const { calls, drop } = new Dropping();
  const failing = garbage.dropCovered(drop);
  const next = garbage.dropCovered(drop);
  await settle();
  expect(calls).toHaveLength(1);
  garbage.add(all(5));
  calls[0]!.end(new Error('the disk'));
  await expect(failing).rejects.toThrow('the disk');
  await settle();
  expect(calls).toHaveLength(2);
  expect(calls[1]!.positions.toSorted((left, right) => left - right)).toEqual(all(3, 5));
  calls[1]!.end();
  await next;
  expect(garbage.left).toEqual([]);
});

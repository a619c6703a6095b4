import { type LogPosition, logPosition as at } from '@engram/core';
import { expect, test } from 'vitest';
import { CALL_POSITIONS, Garbage } from '../src/checkpoint/garbage.ts';

const all = (...positions: number[]): LogPosition[] => positions.map(at);

/** Drops at the test's word. */
class Dropping {
  readonly calls: { readonly positions: readonly LogPosition[]; readonly end: (error?: Error) => void }[] = [];
  readonly drop = (positions: readonly LogPosition[]): Promise<void> =>
    new Promise((resolve, reject) => {
      this.calls.push({ positions, end: (error) => (error === undefined ? resolve() : reject(error)) });
    });
}

const giveWay = (): Promise<void> => Promise.resolve();
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('what a checkpoint covers is dropped, and what lies behind it waits for the next one', async () => {
  const garbage = new Garbage(at(10), all(3, 12));
  garbage.add(all(9, 10, 20));
  const { calls, drop } = new Dropping();
  const dropped = garbage.dropCovered(drop, giveWay);
  await settle();
  expect(calls.map(({ positions }) => positions)).toEqual([all(3, 9)]);
  calls[0]!.end();
  await dropped;
  expect(garbage.left).toEqual(all(12, 10, 20));
  await garbage.dropCovered(drop, giveWay);
  expect(calls, 'nothing is covered').toHaveLength(1);
  garbage.cover(at(13));
  expect(garbage.from).toBe(13);
  void garbage.dropCovered(drop, giveWay);
  await settle();
  expect(calls[1]!.positions).toEqual(all(12, 10));
  expect(() => garbage.cover(at(12))).toThrow('a checkpoint before the newest one');
});

test('a checkpoint that is written during a drop names what storage may not know of yet', async () => {
  const garbage = new Garbage(at(10), all(3));
  const { calls, drop } = new Dropping();
  const dropped = garbage.dropCovered(drop, giveWay);
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
  const failing = garbage.dropCovered(drop, giveWay);
  const next = garbage.dropCovered(drop, giveWay);
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

test('millions that a checkpoint covers are dropped a few at a time, and those behind it wait; meanwhile all of them are left', async () => {
  const count = 10 * CALL_POSITIONS + 7;
  const garbage = new Garbage(at(1), []);
  garbage.add(Array.from({ length: count }, (_, index) => at(1 + ((index * 7919) % count))));
  const from = count - CALL_POSITIONS;
  garbage.cover(at(from));
  const gone = new Set<LogPosition>();
  const sizes: number[] = [];
  let turns = 0;
  await garbage.dropCovered(
    async (positions) => {
      sizes.push(positions.length);
      expect(garbage.left.toSorted((left, right) => left - right)).toEqual(rest(count, gone));
      for (const position of positions) gone.add(position);
    },
    async () => {
      turns += 1;
      expect(garbage.left).toHaveLength(count - gone.size);
    },
  );
  expect(Math.max(...sizes)).toBeLessThanOrEqual(CALL_POSITIONS);
  expect(turns).toBeGreaterThanOrEqual(sizes.length - 1);
  expect(garbage.left.toSorted((left, right) => left - right)).toEqual(rest(count, gone));
  expect([gone.size, Math.max(...gone)]).toEqual([from - 1, from - 1]);
  garbage.cover(at(count + 1));
  await garbage.dropCovered(async (positions) => {
    for (const position of positions) gone.add(position);
  }, giveWay);
  expect(gone.size).toBe(count);
  expect(garbage.left).toEqual([]);
});

test('a start that finds millions that are covered drops them a few at a time, and what fails is dropped the next time', async () => {
  const count = 5 * CALL_POSITIONS;
  const positions = Array.from({ length: count }, (_, index) => at(1 + index));
  const garbage = new Garbage(at(count + 1), positions);
  let calls = 0;
  const gone: LogPosition[] = [];
  const drop = async (some: readonly LogPosition[]): Promise<void> => {
    calls += 1;
    expect(some.length).toBeLessThanOrEqual(CALL_POSITIONS);
    if (calls === 3) throw new Error('the disk');
    gone.push(...some);
  };
  await expect(garbage.dropCovered(drop, giveWay)).rejects.toThrow('the disk');
  expect(gone).toHaveLength(2 * CALL_POSITIONS);
  expect(garbage.left).toHaveLength(3 * CALL_POSITIONS);
  await garbage.dropCovered(drop, giveWay);
  expect(gone.toSorted((left, right) => left - right)).toEqual(positions);
});

const rest = (count: number, gone: ReadonlySet<LogPosition>): LogPosition[] =>
  Array.from({ length: count }, (_, index) => at(1 + index)).filter((position) => !gone.has(position));

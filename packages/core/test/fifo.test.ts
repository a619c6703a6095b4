import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Fifo } from '@engram/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

test('items leave in the order in which they came', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.record({ push: fc.integer({ min: 1, max: 1_500 }) }), fc.record({ shift: fc.nat(1_500) })), {
        maxLength: 20,
      }),
      (steps) => {
        const queue = new Fifo<number>();
        let [pushed, left] = [0, 0];
        for (const step of steps) {
          if ('push' in step) {
            for (const end = pushed + step.push; pushed < end; pushed += 1) queue.push(pushed + 1);
          } else {
            for (let more = step.shift; more > 0; more -= 1) {
              const due = left < pushed ? left + 1 : undefined;
              expect(queue.first).toBe(due);
              expect(queue.shift()).toBe(due);
              left = due ?? left;
            }
          }
          expect(queue.length).toBe(pushed - left);
        }
        expect(queue.takeAll()).toEqual(Array.from({ length: pushed - left }, (_, at) => left + at + 1));
        expect(queue.length).toBe(0);
        expect(queue.first).toBeUndefined();
      },
    ),
  );
});

test('it keeps nothing of an item that has left, also if it never gets empty', async () => {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  const queue = new Fifo<object>();
  const items: WeakRef<object>[] = [];
  const turn = (): void => {
    const item = {};
    items.push(new WeakRef(item));
    queue.push(item);
    if (queue.length > 3) queue.shift();
  };
  for (let turns = 0; turns < 100; turns += 1) turn();
  // A WeakRef keeps its object until the turn of the event loop ends.
  await new Promise((resolve) => setImmediate(resolve));
  if (typeof collect === 'function') collect();
  expect(items.map((item) => item.deref() !== undefined)).toEqual(items.map((_, at) => at >= 97));
});

import { AssertionError, LinkedQueue, type Queued } from '@engram/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

interface Item extends Queued<Item> {
  readonly name: number;
}
const item = (name: number): Item => ({ name, queued: false, before: undefined, after: undefined });

test('it keeps the order of those who stayed', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9), { maxLength: 60 }), (names) => {
      const queue = new LinkedQueue<Item>();
      const items = Array.from({ length: 10 }, (_, name) => item(name));
      let model: number[] = [];
      for (const name of names) {
        if (items[name]!.queued) {
          queue.remove(items[name]!);
          model = model.filter((other) => other !== name);
        } else {
          queue.push(items[name]!);
          model.push(name);
        }
        expect(queue.first?.name).toBe(model[0]);
        expect(queue.size).toBe(model.length);
      }
      for (const name of model) {
        expect(queue.first?.name).toBe(name);
        queue.remove(queue.first!);
      }
      expect(queue.first).toBeUndefined();
    }),
  );
});

test('nobody stands in it twice, or leaves it twice', () => {
  const queue = new LinkedQueue<Item>();
  const only = item(0);
  expect(() => queue.remove(only)).toThrow(AssertionError);
  queue.push(only);
  expect(() => queue.push(only)).toThrow(AssertionError);
});

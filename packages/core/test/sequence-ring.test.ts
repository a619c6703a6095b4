import { SequenceRing } from '@engram/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

test('values come and go by numbers that go up, with holes between them', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 90 }), fc.boolean()), { maxLength: 60 });
  // Covers numbers above 32 bits too.
  const begin = fc.constantFrom(0, 2 ** 31 - 100, 2 ** 32 - 100, 2 ** 40);
  fc.assert(
    fc.property(begin, steps, (first, taken) => {
      const ring = new SequenceRing<string>(16);
      const model = new Map<number, string>();
      let number = first;
      for (const [gap, forgets] of taken) {
        number += gap;
        ring.put(number, `${number}`);
        model.set(number, `${number}`);
        if (forgets) {
          const oldest = [...model.keys()][0]!;
          ring.forgetBefore(oldest + 1);
          model.delete(oldest);
        }
        for (let at = ring.first - 1; at <= ring.next; at += 1) expect(ring.get(at)).toBe(model.get(at));
        expect([...model.keys()].every((held) => held >= ring.first && held < ring.next)).toBe(true);
      }
    }),
  );
});

test('a number does not come back', () => {
  const ring = new SequenceRing<string>(4);
  ring.put(7, 'seven');
  expect(() => ring.put(7, 'again')).toThrow('go up');
  expect(() => ring.forgetBefore(9)).toThrow('has not come');
  expect(() => new SequenceRing(3)).toThrow('power of two');
});

test('numbers from a floor on come in any order, and go in any order', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('set', 'remove', 'advance'), fc.integer({ min: 0, max: 40 })), {
    maxLength: 80,
  });
  fc.assert(
    fc.property(fc.constantFrom(1, 2 ** 32 - 20, 2 ** 45), steps, (begin, taken) => {
      const ring = new SequenceRing<string>(4);
      ring.advance(begin);
      const model = new Map<number, string>();
      for (const [what, distance] of taken) {
        const number = ring.first + distance;
        if (what === 'set') {
          ring.set(number, `${number}`);
          model.set(number, `${number}`);
        } else if (what === 'remove') {
          ring.remove(number);
          model.delete(number);
        } else {
          ring.advance(number);
          for (const held of model.keys()) if (held < number) model.delete(held);
          expect(ring.first).toBe(number);
        }
        for (let at = ring.first - 1; at <= ring.next + 1; at += 1) expect(ring.get(at)).toBe(model.get(at));
        expect([...ring.values()]).toEqual([...model].sort(([a], [b]) => a - b).map(([, value]) => value));
      }
    }),
  );
});

test('the values that are wanted go, each is asked for once and oldest first, and none that comes meanwhile', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.boolean()), { maxLength: 40 }), (taken) => {
      const ring = new SequenceRing<string>(4);
      const goes = new Map<string, boolean>();
      let number = 0;
      for (const [gap, wanted] of taken) {
        number += gap;
        ring.put(number, `${number}`);
        goes.set(`${number}`, wanted);
      }
      const asked: string[] = [];
      ring.removeIf((value) => {
        asked.push(value);
        if (asked.length === 1) ring.put(ring.next, 'came meanwhile');
        return goes.get(value)!;
      });
      expect(asked).toEqual([...goes.keys()]);
      const kept = asked.filter((value) => goes.get(value) === false);
      expect([...ring.values()]).toEqual(asked.length === 0 ? [] : [...kept, 'came meanwhile']);
      expect(ring.isEmpty).toBe(asked.length === 0);
    }),
  );
});

test('removing the oldest leaves the next one that has a value as the first', () => {
  const ring = new SequenceRing<string>(4);
  for (const number of [5, 6, 7, 9]) ring.put(number, `${number}`);
  ring.remove(6);
  expect(ring.first).toBe(5);
  ring.remove(5);
  expect(ring.first).toBe(7);
  ring.remove(7);
  expect(ring.first).toBe(9);
  ring.remove(9);
  expect(ring.first).toBe(ring.next);
  expect(() => ring.set(3, 'forgotten')).toThrow('forgotten');
});

import { SequenceRing } from '@engram/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

test('values come and go by numbers that go up, with holes between them', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 90 }), fc.boolean()), { maxLength: 60 });
  // Also where numbers exceed 32 bits.
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

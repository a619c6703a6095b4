import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareBytes, utf8 } from '@engram/core';
import { compareNames, NameTable } from '@engram/auth';

const names = fc.string({ unit: 'grapheme', maxLength: 6 });

test('names have the order of their UTF-8 bytes, also beyond the first 64k code points', () => {
  fc.assert(
    fc.property(names, names, (left, right) => {
      expect(Math.sign(compareNames(left, right))).toBe(Math.sign(compareBytes(utf8(left), utf8(right))));
    }),
  );
  expect(compareNames('\u{ff5e}', '\u{1f600}')).toBeLessThan(0);
  expect('\u{ff5e}' < '\u{1f600}').toBe(false);
});

test('a table does what a sorted array without doubles does, and leaves earlier tables as they were', () => {
  const step = fc.record({ adds: fc.boolean(), name: fc.constantFrom('a', 'b', 'ab', 'é', '\u{1f600}', '\u{ff5e}') });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      let table = NameTable.of<{ name: string; at: number }>([]);
      const model = new Map<string, number>();
      for (const [at, { adds, name }] of steps.entries()) {
        const before = [...table.rows];
        const next = adds ? table.with({ name, at }) : table.without(name);
        expect(table.rows).toEqual(before);
        table = next;
        if (adds) model.set(name, at);
        else model.delete(name);
        expect(table.names()).toEqual([...model.keys()].sort((left, right) => compareBytes(utf8(left), utf8(right))));
        for (const held of ['a', 'b', 'ab', 'é', 'zz']) expect(table.get(held)?.at).toBe(model.get(held));
      }
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { utf8 } from '@engram/core';
import { mvccpb } from '@engram/wire';
import { keyChanges } from '../src/compare/key-changes.ts';

type Keys = ReadonlyMap<string, number>;

async function* pages(keys: Keys, size: number): AsyncGenerator<readonly mvccpb.KeyValue[]> {
  const sorted = [...keys].toSorted(([left], [right]) => Buffer.compare(utf8(left), utf8(right)));
  for (let at = 0; at < sorted.length; at += size) {
    yield sorted
      .slice(at, at + size)
      .map(([key, modRevision]) => ({ ...mvccpb.newKeyValue(), key: utf8(key), modRevision }));
    yield [];
  }
}

test('the changes are those of the two sets of keys, in their order, whatever the pages are', async () => {
  const keys = fc
    .array(fc.tuple(fc.string({ maxLength: 3 }), fc.integer({ min: 1, max: 3 })), { maxLength: 30 })
    .map((entries): Keys => new Map(entries));
  await fc.assert(
    fc.asyncProperty(
      keys,
      keys,
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 1, max: 7 }),
      async (before, after, left, right) => {
        const found: string[] = [];
        for await (const change of keyChanges(pages(before, left), pages(after, right))) {
          const { key } = 'to' in change ? change.to : change.from;
          found.push(`${change.change} ${Buffer.from(key).toString()}`);
        }
        const wanted = [...new Set([...before.keys(), ...after.keys()])]
          .toSorted((one, other) => Buffer.compare(utf8(one), utf8(other)))
          .flatMap((key) => {
            if (!before.has(key)) return [`added ${key}`];
            if (!after.has(key)) return [`removed ${key}`];
            return before.get(key) === after.get(key) ? [] : [`changed ${key}`];
          });
        expect(found).toEqual(wanted.map((line) => Buffer.from(line).toString()));
      },
    ),
  );
});

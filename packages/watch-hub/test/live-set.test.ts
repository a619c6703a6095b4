import { rangeContains, utf8 } from '@engram/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { range } from './fakes.ts';
import { World } from './world.ts';

const PATTERNS = ['a', 'z', 'a*', '*', 'a..z', 'a..b', 'ab..c', 'ab..bc', 'b..bb', 'b..z', 'ba..c', 'bb..c'];
const KEYS = ['a', 'ab', 'abc', 'b', 'ba', 'bc', 'c', 'z'];

test('superseded versions are wanted where a live watcher wants them, whoever comes and goes', () => {
  const step = fc.record({
    pattern: fc.constantFrom(...PATTERNS),
    prevKv: fc.boolean(),
    cancel: fc.option(fc.nat(30), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 15, maxLength: 50 }), (steps) => {
      const world = new World();
      const watchers = new Map<number, { readonly pattern: string; readonly prevKv: boolean }>();
      for (const { pattern, prevKv, cancel } of steps) {
        const gone = cancel === undefined ? undefined : [...watchers.keys()][cancel];
        if (gone !== undefined) {
          watchers.delete(gone);
          world.stream.cancel(gone);
        } else {
          watchers.set(Number(world.watch(pattern, { prevKv })), { pattern, prevKv });
        }
        for (const key of KEYS) {
          const wanted = [...watchers.values()].some(
            (watcher) => watcher.prevKv && rangeContains(range(watcher.pattern), utf8(key)),
          );
          expect(world.hub.wantsPrevKv(utf8(key)), key).toBe(wanted);
        }
      }
    }),
    { numRuns: 400 },
  );
});

import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const LAST = 134;

/** `edge 4`, `edge 4, 5 and 64`: in the name of a test. */
function tested(): Set<number> {
  const numbers = new Set<number>();
  for (const path of globSync(['packages/*/test/**/*.ts', 'test/**/*.test.ts'])) {
    for (const [, list] of readFileSync(path, 'utf8').matchAll(/\bedge (\d+(?:(?:, | and )\d+)*)/g)) {
      for (const [number] of list!.matchAll(/\d+/g)) numbers.add(Number(number));
    }
  }
  return numbers;
}

function excused(): Set<number> {
  const numbers = new Set<number>();
  for (const [, from, to] of readFileSync('docs/EDGE-CASES.md', 'utf8').matchAll(/^\| (\d+)(?: to (\d+))? \| \S/gm)) {
    for (let number = Number(from); number <= Number(to ?? from); number += 1) numbers.add(number);
  }
  return numbers;
}

test('every edge case has a test, or a reason why not, and not both', () => {
  const [shown, missing] = [tested(), excused()];
  const all = Array.from({ length: LAST }, (_, at) => at + 1);
  expect(
    all.filter((number) => !shown.has(number) && !missing.has(number)),
    'neither tested nor explained',
  ).toEqual([]);
  expect(
    all.filter((number) => shown.has(number) && missing.has(number)),
    'tested, and said not to be',
  ).toEqual([]);
});

import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The numbers in names of tests: `edge 4`, `edge 4, 5 and 64`. */
function tested(): Set<number> {
  const numbers = new Set<number>();
  for (const path of globSync(['packages/*/test/**/*.ts', 'test/**/*.test.ts'])) {
    for (const [, list] of readFileSync(path, 'utf8').matchAll(/\bedge (\d+(?:(?:, | and )\d+)*)/g)) {
      for (const [number] of list!.matchAll(/\d+/g)) numbers.add(Number(number));
    }
  }
  return numbers;
}

interface Row {
  readonly number: number;
  readonly text: string;
  /** The reason why there is no test; empty if there is one. */
  readonly excuse: string;
}

const rows: readonly Row[] = [
  ...readFileSync('docs/EDGE-CASES.md', 'utf8').matchAll(/^\| (\d+) \| (.*?) \|(?: (.*?))? \|$/gm),
].map(([, number, text, excuse]) => ({ number: Number(number), text: text!, excuse: excuse ?? '' }));

test('the list has every number once, in order, and says what happens', () => {
  expect(rows.length).toBeGreaterThanOrEqual(134);
  expect(rows.map(({ number }) => number)).toEqual(rows.map((_, at) => at + 1));
  expect(rows.filter(({ text }) => text.length < 10)).toEqual([]);
});

test('every edge case has a test, or a reason why not, and not both', () => {
  const shown = tested();
  expect(
    rows.filter(({ number, excuse }) => !shown.has(number) && excuse === ''),
    'neither tested nor explained',
  ).toEqual([]);
  expect(
    rows.filter(({ number, excuse }) => shown.has(number) && excuse !== ''),
    'tested, and said not to be',
  ).toEqual([]);
  expect(
    [...shown].filter((number) => number > rows.length),
    'tested, and not in the list',
  ).toEqual([]);
});

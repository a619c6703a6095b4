import { expect, test } from 'vitest';
import { type Slice, sliceColumns, sliceRow, verdict } from '../../bench/sustained/slices.ts';
import { type Outcome, parseOutcome } from '../../bench/support/outcome.ts';

function outcome(op: string, fields: Readonly<Record<string, number>>): readonly [string, Outcome] {
  const parsed = parseOutcome(
    JSON.stringify({
      op,
      requests: 0,
      failures: 0,
      seconds: 60,
      per_second: 0,
      p50_ms: 0,
      p99_ms: 0,
      max_ms: 0,
      ...fields,
    }),
  );
  if (parsed === undefined) throw new Error('no outcome');
  return [op, parsed];
}

const slice = (perSecond: number, residentMb: number): Slice => ({
  outcomes: new Map([
    outcome('write', { requests: perSecond * 60, per_second: perSecond, p99_ms: 1e5 / perSecond }),
    outcome('update', { requests: 10, p50_ms: 1.5, p99_ms: 20 }),
    outcome('event', { requests: 10, items_per_second: perSecond * 10, p50_ms: 2, p99_ms: 3 }),
    outcome('slice', { items: 77 }),
  ]),
  residentMb,
  anonymousMb: residentMb / 2,
  diskMb: 1000,
  cpuSeconds: 30,
  loadAverage: 4,
});

test('a slice fills a row, with dashes for what did not happen', () => {
  const cells = sliceRow(3, slice(10_000, 500));
  expect(cells).toHaveLength(sliceColumns.length);
  expect(cells).toEqual(
    // Slice and load; create, update and delete; events; renewals and compactions; memory, disk and CPU.
    ['3', '4.00', '10,000', '-', '-', '1.50', '20.0', '-', '-', '100,000', '2.00', '3.00', '77.0', '-', '-'].concat([
      '500',
      '250',
      '1,000',
      '0.50',
      '50.0',
    ]),
  );
});

test('a verdict sets the last five slices against the first five after the warm-up, and one bad slice is none', () => {
  const slices = [
    slice(1, 1),
    ...[400, 100, 100, 100, 100, 7, 50, 50, 50, 50, 1].map((rate) => slice(rate, 1000 / rate)),
  ];
  expect(verdict(slices)).toBe(
    'last 5 slices to first 5: writes/s 0.50x, write p99 2.00x, event p99 1.00x, RSS 2.00x, disk 1.00x, CPU/write 2.00x, load average 1.00x',
  );
});

test.each([
  { count: 0, window: undefined },
  { count: 2, window: undefined },
  { count: 3, window: 1 },
  { count: 6, window: 2 },
  { count: 30, window: 5 },
])('$count slices are compared by $window', ({ count, window }) => {
  const found = verdict(Array.from({ length: count }, () => slice(10, 10)));
  expect(found?.match(/^last (\d)/)?.[1]).toBe(window === undefined ? undefined : String(window));
});

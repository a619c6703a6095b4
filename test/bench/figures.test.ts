import { expect, test } from 'vitest';
import { columns, figuresOf, row, type Run } from '../../bench/compare/figures.ts';
import { workloads } from '../../bench/compare/workloads.ts';
import { readOptions } from '../../bench/support/options.ts';
import { parseOutcome, type Outcome } from '../../bench/support/outcome.ts';
import { figure, median, medianInterval, quantile, ratio } from '../../bench/support/statistics.ts';
import { toMarkdown, toText } from '../../bench/support/table.ts';
import { cpuSecondsOf, statFields, statusMb } from '../../bench/support/usage.ts';

test.each([
  { values: [3], middle: 3, why: 'one value is its own middle' },
  { values: [9, 1, 5], middle: 5, why: 'the order does not matter' },
  { values: [10, 9, 1, 2], middle: 2, why: 'of two middles the lower, which was measured' },
  { values: [100, 20, 3], middle: 20, why: 'numbers are not sorted as texts' },
  { values: [], middle: Number.NaN, why: 'nothing has no middle' },
])('the median of $values is $middle: $why', ({ values, middle }) => {
  expect(median(values)).toBe(middle);
});

test('a quantile is a measured value', () => {
  const values = Array.from({ length: 1000 }, (_, at) => 999 - at);
  expect([0, 0.5, 0.99, 1].map((share) => quantile(values, share))).toEqual([0, 499, 989, 999]);
});

test.each([
  { count: 100, least: 39, most: 60, why: 'of a hundred the 40th and the 61st' },
  { count: 10_000, least: 4901, most: 5098, why: 'narrower with more values' },
  { count: 3, least: 0, most: 2, why: 'few values say only that it is among them' },
  { count: 0, least: Number.NaN, most: Number.NaN, why: 'nothing has none' },
])('the interval of a median of $count values: $why', ({ count, least, most }) => {
  expect(medianInterval(Array.from({ length: count }, (_, at) => count - 1 - at))).toEqual({ least, most });
});

test.each([
  [1234567.8, '1,234,568'],
  [123.4, '123'],
  [45.67, '45.7'],
  [0.456, '0.46'],
  [0, '0'],
  [Number.NaN, '-'],
])('%d reads %s', (value, text) => {
  expect(figure(value)).toBe(text);
});

test('a ratio to nothing is none', () => {
  expect([ratio(3, 2), ratio(3, 0), ratio(3, Number.NaN)]).toEqual(['1.50x', '-', '-']);
});

test('tables are aligned, and Markdown survives its own signs', () => {
  const table = { title: 'T', columns: ['a|b', 'n'], rows: [['x', '1'] as const, ['long name', '22'] as const] };
  expect(toText(table)).toBe(['T', 'a|b         n', 'x           1', 'long name  22'].join('\n'));
  expect(toMarkdown(table)).toBe(
    ['## T', '', '| a\\|b      |  n |', '| --------- | -: |', '| x         |  1 |', '| long name | 22 |', ''].join(
      '\n',
    ),
  );
});

const line =
  '{"op":"list","requests":50,"failures":1,"first_error":"list: status 14","seconds":0.5,"per_second":100,' +
  '"items":25000,"items_per_second":50000,"bytes_in":7,"p50_ms":1.5,"p90_ms":2,"p99_ms":3.5,"p999_ms":4,"max_ms":5}';

test("the load generator's lines", () => {
  expect(parseOutcome(line)).toEqual({
    op: 'list',
    phase: '',
    requests: 50,
    failures: 1,
    firstError: 'list: status 14',
    seconds: 0.5,
    perSecond: 100,
    items: 25000,
    itemsPerSecond: 50000,
    bytesIn: 7,
    p50Ms: 1.5,
    p99Ms: 3.5,
    maxMs: 5,
    clientCpuSeconds: 0,
  });
  expect(parseOutcome('{"prepared":true}')).toBeUndefined();
  expect(parseOutcome('panic: something')).toBeUndefined();
  expect(() => parseOutcome('{"op":"put","requests":"many"}')).toThrow('requests is no number');
  expect(() => parseOutcome('{"op":"put","requests":1}')).toThrow('failures is no number');
});

test('what the kernel says of a process, whose name may hold anything', () => {
  const stat = '77 (a) b (c d) S 12 77 77 0 -1 4194560 1 2 3 4 250 50 7 8 20 0 11 0 100 1 2';
  expect(statFields(stat).slice(0, 2)).toEqual(['S', '12']);
  expect(cpuSecondsOf(stat)).toBe(3);
  const status = 'Name:\tnode\nVmHWM:\t  204800 kB\nVmRSS:\t  102400 kB\nRssAnon:\t   51200 kB\n';
  expect(['VmRSS', 'RssAnon', 'VmHWM', 'VmSwap'].map((field) => statusMb(status, field))).toEqual([100, 50, 200, 0]);
});

test('figures are medians of what the workload counts', () => {
  const outcome = parseOutcome(line) as Outcome;
  const runs: Run[] = [1, 3, 2].map((cpuSeconds) => ({ outcome, cpuSeconds, residentMb: 10 * cpuSeconds }));
  expect(figuresOf(runs, 'key')).toEqual({ rate: 50000, p50Ms: 1.5, p99Ms: 3.5, cpuUs: 80, residentMb: 20 });
  expect(figuresOf(runs, 'request')).toMatchObject({ rate: 100, cpuUs: 40_000 });
  expect(row('list', figuresOf(runs, 'key'), figuresOf(runs, 'key'))).toHaveLength(columns.length);
});

test('workloads have names of their own, and requests at any scale', () => {
  for (const factor of [1, 0.0001]) {
    const all = workloads({ factor, keys: 1000, listed: 100 });
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    for (const { args } of all) expect(args.find((arg) => arg.startsWith('--requests='))).not.toMatch(/=0$/);
  }
});

test('options have the type of their defaults, and smoke takes their place', () => {
  const read = (...args: string[]): unknown => readOptions(args, { keys: 100, only: 'a', rounds: 3 }, { keys: 2 });
  expect(read()).toEqual({ keys: 100, only: 'a', rounds: 3 });
  expect(read('--smoke', '--rounds', '1')).toEqual({ keys: 2, only: 'a', rounds: 1 });
  expect(read('--smoke', '--keys=7', '--only', 'b')).toEqual({ keys: 7, only: 'b', rounds: 3 });
  expect(() => read('--keys', 'many')).toThrow('--keys: not a number: many');
  expect(() => read('--keys', '')).toThrow('--keys: not a number');
  expect(() => read('--color', '1')).toThrow('--color');
});

import { expect, test } from 'vitest';
import { summaryOf } from '../../bench/etcd-tool/summary.ts';

const part = (rate: string, p99: string): string => `
Summary:
  Total:\t0.1051 secs.
  Requests/sec:\t${rate}

Latency distribution:
  95% in 0.00009 secs.
  99% in ${p99} secs.
`;

test('the last report of a run counts, also with exponents', () => {
  expect(summaryOf(part('91.5', '1.5') + part('1.25e+05', '2.5e-04'))).toEqual({
    rate: 125_000,
    p99Ms: 0.25,
    errors: 0,
  });
});

test('errors are counted, and what is missing is no number', () => {
  const errors = '\nError distribution:\n  [3]\trpc error: code = Unavailable\n  [2]\tetcdserver: too many requests\n';
  expect(summaryOf(`  Requests/sec:\t10${errors}`)).toEqual({ rate: 10, p99Ms: Number.NaN, errors: 5 });
});

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const program = join(import.meta.dirname, '../../e2e/support/go-test-summary.ts');
const start = { Action: 'start', Package: 'p' };
const ended = (outcome: string, name: string) => ({ Action: outcome, Package: 'p', Test: name });
const end = (outcome: string) => ({ Action: outcome, Package: 'p' });

test.each([
  { events: [start, ended('pass', 'A'), end('pass')], line: '1 passed, 0 failed', status: 0, why: 'all is well' },
  {
    events: [start, ended('pass', 'A/x'), ended('pass', 'A/y'), ended('pass', 'A'), end('pass')],
    line: '2 passed, 0 failed',
    status: 0,
    why: 'a test with subtests is the sum of them',
  },
  {
    events: [start, ended('pass', 'A/x'), ended('fail', 'A/y'), ended('fail', 'A'), end('fail')],
    line: '1 passed, 1 failed',
    status: 1,
    why: 'one subtest failed',
  },
  {
    events: [start, ended('pass', 'A'), ended('skip', 'B'), end('fail')],
    line: '1 passed, 1 failed',
    status: 1,
    why: 'a package that fails without a test (a panic, the time limit) is one failure',
  },
  { events: [start, ended('pass', 'A')], line: '1 passed, 1 failed', status: 1, why: 'the suite was killed' },
  { events: [start, end('pass')], line: '0 passed, 0 failed', status: 1, why: 'nothing ran' },
  { events: [], line: '0 passed, 0 failed', status: 1, why: 'the build failed' },
])('$line, status $status: $why', ({ events, line, status }) => {
  const input = events.map((event) => `${JSON.stringify(event)}\n`).join('');
  const run = spawnSync(process.execPath, [program, 'x'], { input, encoding: 'utf8' });
  expect(run.stdout.trimEnd().split('\n').at(-1)).toBe(`e2e-x: ${line}`);
  expect(run.status).toBe(status);
});

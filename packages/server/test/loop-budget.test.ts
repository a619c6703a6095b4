import { expect, test } from 'vitest';
import { Engram } from './support/engram-process.ts';
import { GrpcClient } from './support/grpc-client.ts';

test('a node that is told to ends with a stretch above the budget, and names it; without one it serves', async () => {
  await using engram = await Engram.start(['--loop-budget=200ms', '--loop-budget-fatal']);
  using client = new GrpcClient(engram.url);
  await client.put('a', 'b');
  expect(await client.get('a')).toBe('b');
  // Every stretch exceeds this budget, so the first call ends the process.
  await using strict = await Engram.start(['--loop-budget=1us', '--loop-budget-fatal']);
  using other = new GrpcClient(strict.url);
  await other.put('a', 'b').catch(() => {});
  const line = await strict.logged(({ level }) => level === 'fatal');
  expect(String(line['error'])).toMatch(/^the event loop was kept for \d+ ms by \w+/);
});

test('the longest stretches are metrics', async () => {
  await using engram = await Engram.start(['--loop-budget=1us']);
  using client = new GrpcClient(engram.url);
  await client.put('a', 'b');
  const text = await (await fetch(`${engram.url}/metrics`)).text();
  expect(text).toMatch(/engram_loop_longest_stretch_seconds\{phase="handle",method="\/etcdserverpb\.KV\/Put"\} 0\.\d+/);
});

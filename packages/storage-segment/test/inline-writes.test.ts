import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { InlineWrites } from '../src/log/inline-writes.ts';
import { nodeFileSystem } from '../src/disk/node-file-system.ts';
import { nodeGround } from '../src/ground.ts';

/** An InlineWrites after writes that took this long, each after a rest, and the time at the end of the last one. */
function after(
  tookMs: readonly number[],
  bytes = 700,
): { readonly writes: InlineWrites; rest(): void; readonly nowMs: number } {
  let idleMs = 5;
  let nowMs = 0;
  const writes = new InlineWrites(() => idleMs);
  const rest = (): void => {
    idleMs += 1;
  };
  for (const ms of tookMs) {
    rest();
    writes.may(bytes, nowMs);
    nowMs += ms;
    writes.took(bytes, ms);
  }
  rest();
  return { writes, rest, nowMs };
}

const FAST = Array.from({ length: 20 }, () => 0.15);

test('a new log waits for the disk elsewhere until that has shown to be fast', () => {
  expect(after([]).writes.may(700, 1000)).toBe(false);
  expect(after(FAST.slice(0, 2)).writes.may(700, 1000)).toBe(false);
  expect(after(FAST).writes.may(700, 1000)).toBe(true);
});

test('a slow disk never holds up the process, and one that has become slow no more', () => {
  expect(after(Array.from({ length: 100 }, () => 2)).writes.may(700, 1000)).toBe(false);
  expect(after([...FAST, 4.9]).writes.may(700, 1000)).toBe(false);
  expect(after([...FAST, 4.9, ...FAST]).writes.may(700, 1000)).toBe(true);
});

test('a disk that has stalled once does not hold up the process for a minute, however fast it is in between', () => {
  const { writes, rest, nowMs } = after(FAST);
  writes.blocked(4.9, nowMs);
  expect(writes.may(700, nowMs)).toBe(true);
  writes.blocked(5, nowMs);
  rest();
  expect(writes.may(700, nowMs + 59_999)).toBe(false);
  rest();
  expect(writes.may(700, nowMs + 60_000)).toBe(true);
});

test('only where the process had nothing to do since the append before', () => {
  const { writes, rest } = after(FAST);
  expect(writes.may(700, 1000)).toBe(true);
  expect(writes.may(700, 1000)).toBe(false);
  rest();
  expect(writes.may(700, 1000)).toBe(true);
});

test('large appends are written elsewhere, and say nothing of small ones', () => {
  const { writes, rest } = after(FAST);
  expect(writes.may(16_385, 1000)).toBe(false);
  writes.took(1 << 20, 50);
  rest();
  expect(writes.may(16_384, 1000)).toBe(true);
});

test('the idle time of a process grows while it waits', async () => {
  const before = nodeGround.idleMs();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(nodeGround.idleMs()).toBeGreaterThan(before);
});

test('an inline write is in the file before the call returns', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'engram-inline-'));
  const file = await nodeFileSystem.open(join(directory, 'a'), 'create');
  const reader = await nodeFileSystem.open(join(directory, 'a'), 'read');
  const written = file.write(Uint8Array.of(1, 2, 3), 2, true);
  const bytes = new Uint8Array(5);
  expect(await reader.read(bytes, 0)).toBe(5);
  expect([...bytes]).toEqual([0, 0, 1, 2, 3]);
  await written;
  // `reader` is opened for reading only.
  await expect(reader.write(bytes, 0, true), 'an error is the promise’s').rejects.toThrow('EBADF');
  await file.close();
  await reader.close();
  await rm(directory, { recursive: true });
});

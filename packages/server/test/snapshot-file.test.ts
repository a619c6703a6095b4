import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SnapshotFile } from '../src/restore/snapshot-file.ts';

const never = new AbortController().signal;
let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'engram-snapshot-file-'));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test('a file is read into the memory that is given, or into new memory', async () => {
  const path = join(scratch, 'saved.db');
  writeFileSync(
    path,
    Uint8Array.from({ length: 1_000 }, (_, at) => at & 0xff),
  );
  using file = SnapshotFile.open(path);
  const into = new Uint8Array(100).fill(7);
  const given = await file.read(256, 10, never, into);
  expect([given.buffer, [...given]]).toEqual([into.buffer, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]);
  expect(into.subarray(10).every((byte) => byte === 7)).toBe(true);
  const first = await file.read(256, 2, never);
  const second = await file.read(260, 2, never);
  expect([[...first], [...second]]).toEqual([
    [0, 1],
    [4, 5],
  ]);
  // What a file that was cut does not have is not there, whatever was in the memory.
  truncateSync(path, 260);
  expect([...(await file.read(256, 10, never, into))]).toEqual([0, 1, 2, 3]);
  expect([...(await file.read(256, 10, never))]).toEqual([0, 1, 2, 3]);
});

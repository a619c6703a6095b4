import { encodeKeyValue } from '@engram/coder';
import { keyBytes, leaseId, revision } from '@engram/core';
import { finish, StepPace, unhurried } from '@engram/loop';
import { expect, test } from 'vitest';
import { versionsAtOnce, VersionsByValue } from '../src/value-order.ts';

const kvOf = (value: Uint8Array): Uint8Array =>
  encodeKeyValue({
    key: keyBytes('k'),
    createRevision: revision(2),
    modRevision: revision(2),
    version: 1,
    value,
    lease: leaseId(0n),
  });

test('what is wanted is held, and a surplus, however many versions come', () => {
  const byValue = new VersionsByValue({ descending: true, limit: 10, keysOnly: false, bytesMax: 20 }, unhurried);
  let most = 0;
  for (let come = 0; come < 50_000; come += 1000) {
    const values = Array.from({ length: 1000 }, (_, at) => Uint8Array.of((come + at) >>> 8, at & 0xff));
    finish(byValue.add(values.map(kvOf)));
    most = Math.max(most, byValue.held);
  }
  expect(most).toBeLessThan(6000);
  expect(finish(byValue.finish())).toMatchObject({ more: true, kvs: { length: 10 } });
});

test('of long versions few are surplus', () => {
  const byValue = new VersionsByValue({ descending: true, limit: 1, keysOnly: false, bytesMax: 1_000_000 }, unhurried);
  const kv = kvOf(new Uint8Array(100));
  for (let come = 0; come < 100; come += 1) {
    finish(byValue.add([kv, kv]));
    expect(byValue.held).toBeLessThanOrEqual(2 + 2);
  }
});

test.each([
  { bytesMax: 0, part: 1024 },
  { bytesMax: 1024, part: 1024 },
  { bytesMax: 4096, part: 256 },
  { bytesMax: 2_000_000, part: 2 },
])('versions of up to $bytesMax bytes come $part at a time', ({ bytesMax, part }) => {
  expect(versionsAtOnce(bytesMax, 1024)).toBe(part);
});

test('comparing long values that are alike is counted by their length', () => {
  const kv = kvOf(new Uint8Array(500_000).fill(7));
  const pace = new StepPace(5000);
  const byValue = new VersionsByValue({ descending: false, limit: 0, keysOnly: false, bytesMax: kv.length }, pace);
  finish(byValue.add(Array.from({ length: 64 }, () => kv)));
  let slices = 0;
  const finishing = byValue.finish();
  for (let step = finishing.next(); step.done !== true; step = finishing.next()) {
    slices += 1;
    pace.begin();
  }
  // About 250 comparisons of half a megabyte: nearly 500 steps each.
  expect(slices).toBeGreaterThan(5);
});

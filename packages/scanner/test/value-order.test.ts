import { encodeKeyValue } from '@engram/coder';
import { doAtOnce, keyBytes, leaseId, revision, Slice } from '@engram/core';
import { expect, test } from 'vitest';
import { VersionsByValue } from '../src/value-order.ts';

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
  const slice = new Slice(1e9);
  const byValue = new VersionsByValue({ descending: true, limit: 10, keysOnly: false, bytesMax: 20 }, slice);
  let most = 0;
  for (let come = 0; come < 50_000; come += 1000) {
    const values = Array.from({ length: 1000 }, (_, at) => Uint8Array.of((come + at) >>> 8, at & 0xff));
    doAtOnce(byValue.add(values.map(kvOf)));
    most = Math.max(most, byValue.held);
  }
  expect(most).toBeLessThan(6000);
  expect(doAtOnce(byValue.finish())).toMatchObject({ more: true, kvs: { length: 10 } });
});

test('comparing long values that are alike is counted by their length', () => {
  const kv = kvOf(new Uint8Array(500_000).fill(7));
  const slice = new Slice(1000);
  const byValue = new VersionsByValue({ descending: false, limit: 0, keysOnly: false, bytesMax: kv.length }, slice);
  doAtOnce(byValue.add(Array.from({ length: 64 }, () => kv)));
  let slices = 0;
  const finishing = byValue.finish();
  for (let step = finishing.next(); step.done !== true; step = finishing.next()) {
    slices += 1;
    slice.renew();
  }
  // About 250 comparisons of half a megabyte, at 70 us each.
  expect(slices).toBeGreaterThan(5);
});

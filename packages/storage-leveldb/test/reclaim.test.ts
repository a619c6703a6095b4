import { logPosition } from '@engram/core';
import { sealOf, stream } from '@engram/storage/testing';
import { expect, test } from 'vitest';
import { LevelBed } from './level-bed.ts';

test('what was dropped is given back to the file system at once, and nothing else', async () => {
  await using bed = await LevelBed.make();
  const { log, values } = await bed.open();
  await log.seal(sealOf(1));
  // Incompressible values, because compression would hide how much is freed.
  const record = (at: number): Uint8Array =>
    Uint8Array.from({ length: 4000 }, (_, byte) => (at * 7919 + byte * byte * 31) % 251);
  for (let at = 1; at <= 100; at += 1) {
    expect(await log.append({ first: logPosition(at), records: [record(at)] }, sealOf(1))).toEqual({
      kind: 'committed',
    });
  }
  await values.saveCheckpoint(logPosition(101), stream([Uint8Array.of(1)]));
  await values.drop(Array.from({ length: 95 }, (_, at) => logPosition(at + 1)));
  await values.reclaim?.();
  expect(values.size().totalBytes).toBeLessThan(55_000);
  const left = [96, 97, 98, 99, 100].map(logPosition);
  expect(await values.getMany(left, new AbortController().signal)).toEqual(left.map(record));
});

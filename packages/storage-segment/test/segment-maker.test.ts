import { readdir } from 'node:fs/promises';
import { appendRecords, batches, sealOf } from '@engram/storage/testing';
import { expect, test } from 'vitest';
import { badDisk } from './bad-disk.ts';
import { SegmentBed } from './segment-bed.ts';

test('a segment that cannot be opened once it is made is not left behind, and made again', async () => {
  let full = false;
  // Another part of the process takes the descriptor that the file had while it was made.
  const ground = badDisk((asked) =>
    full && asked.operation === 'open' && asked.mode === 'durable' ? 'EMFILE' : undefined,
  );
  await using bed = await SegmentBed.make(16 << 10, { ground });
  const storage = await bed.open();
  await storage.log.seal(sealOf(1));
  const end = await appendRecords(storage, 1, batches(4, 10));
  full = true;
  for (let time = 0; time < 3; time += 1) await expect(storage.values.reclaim!()).rejects.toThrow('EMFILE');
  const names = (await readdir(bed.path)).filter((name) => name.endsWith('.seg') || name.endsWith('.tmp'));
  expect(names).toEqual(['0000000000000001.seg']);
  full = false;
  await appendRecords(storage, end, batches(20, 10));
  await storage.sealed();
  expect((await readdir(bed.path)).filter((name) => name.endsWith('.seg')).length).toBeGreaterThan(1);
});

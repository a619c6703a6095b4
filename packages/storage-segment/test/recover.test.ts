import { readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { logPosition } from '@engram/core';
import { appendRecords, batches, never, record, sealOf, stream } from '@engram/storage/testing';
import { describe, expect, test } from 'vitest';
import { decodeSegmentHeader, readFrameHeader, SEGMENT_HEADER_BYTES } from '../src/format/layout.ts';
import { SegmentBed } from './segment-bed.ts';

const at = logPosition;
const SEGMENT_BYTES = 16 << 10;

/** The segments with records, by their first position. */
async function segments(bed: SegmentBed): Promise<{ name: string; first: number }[]> {
  const found: { name: string; first: number }[] = [];
  for (const name of await readdir(bed.path)) {
    if (!name.endsWith('.seg')) continue;
    const bytes = await readFile(join(bed.path, name));
    const { salt, marked } = decodeSegmentHeader(bytes)!;
    const frame = readFrameHeader(bytes, SEGMENT_HEADER_BYTES, salt, marked);
    if (frame !== undefined) found.push({ name, first: frame.first });
  }
  return found.sort((left, right) => left.first - right.first);
}

describe('opening', () => {
  test('knows the end of the log from the checkpoint where no segment is left', async () => {
    await using bed = await SegmentBed.make(SEGMENT_BYTES);
    let storage = await bed.open();
    await storage.log.seal(sealOf(1));
    // All but the last record are in sealed segments.
    const end = await appendRecords(storage, 1, batches(40, 5));
    await storage.values.saveCheckpoint(at(end), stream([]));
    await storage.values.drop(Array.from({ length: end - 1 }, (_, index) => at(index + 1)));
    await storage.values.reclaim?.();
    await appendRecords(storage, end, [1]);
    await storage[Symbol.asyncDispose]();
    // As a crash during that last append leaves it.
    const [last, ...others] = await segments(bed);
    expect([last?.first, others]).toEqual([end, []]);
    await rm(join(bed.path, 'ACKNOWLEDGED'));
    await truncate(join(bed.path, last!.name), SEGMENT_HEADER_BYTES + 40);
    storage = await bed.open();
    expect(await storage.log.seal(sealOf(1))).toBe(end);
    await appendRecords(storage, end, [3]);
    storage = await bed.reopen(storage);
    expect(await storage.values.getMany([at(end + 2)], never)).toEqual([record(end + 2)]);
  });

  test('goes on in the last segment, and begins the next where it is full', async () => {
    await using bed = await SegmentBed.make(SEGMENT_BYTES);
    let storage = await bed.open();
    await storage.log.seal(sealOf(1));
    let end = 1;
    for (let round = 0; round < 30; round += 1) {
      end = await appendRecords(storage, end, [3, 2]);
      storage = await bed.reopen(storage);
    }
    expect((await segments(bed)).length).toBeGreaterThan(3);
    expect((await segments(bed)).length).toBeLessThan(10);
    const positions = Array.from({ length: end - 1 }, (_, index) => at(index + 1));
    const seen = await storage.values.getMany(positions, never);
    expect(seen.findIndex((bytes, index) => Buffer.compare(bytes, record(index + 1)) !== 0)).toBe(-1);
  });

  test('reads a segment whose table is gone, and has it again', async () => {
    await using bed = await SegmentBed.make(SEGMENT_BYTES);
    let storage = await bed.open();
    await storage.log.seal(sealOf(1));
    const end = await appendRecords(storage, 1, batches(40, 5));
    await storage[Symbol.asyncDispose]();
    for (const name of await readdir(bed.path)) if (name.endsWith('.idx')) await rm(join(bed.path, name));
    storage = await bed.open();
    expect(await storage.values.getMany([at(1), at(end - 1)], never)).toEqual([record(1), record(end - 1)]);
  });

  test('of a missing segment says which records are gone', async () => {
    await using bed = await SegmentBed.make(SEGMENT_BYTES);
    const storage = await bed.open();
    await storage.log.seal(sealOf(1));
    await appendRecords(storage, 1, batches(40, 5));
    await storage[Symbol.asyncDispose]();
    const [, second] = await segments(bed);
    await rm(join(bed.path, second!.name));
    await expect(bed.open()).rejects.toThrow(`the file ${second!.name} cannot be read (ENOENT)`);
  });
});

import { cp, readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { type LogPosition, logPosition } from '@engram/core';
import { appendRecords, batches, record, sealOf, stream, type CheckRequest } from '@engram/storage/testing';
import { type Damage, damages, DamagedCopies, flip } from '@engram/storage/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  decodeSegmentHeader,
  frameHeaderBytes,
  readFrameHeader,
  type SegmentHeader,
  SEGMENT_HEADER_BYTES,
} from '../src/format/layout.ts';
import { SegmentBed } from './segment-bed.ts';

const at = logPosition;
const SEGMENT_BYTES = 16 << 10;

/**
 * A closed storage with something in each place: segments as they were appended, with live and dropped records,
 * segments that were rewritten, a checkpoint, and a last segment with several batches. 20 records of every 100 are
 * large.
 */
async function makeStorage(bed: SegmentBed): Promise<Omit<CheckRequest, 'path'>> {
  const chunks = [
    [9001, 3000],
    [9002, 100],
    [9003, 5000],
  ] as const;
  let storage = await bed.open();
  await storage.log.seal(sealOf(1));
  await appendRecords(storage, 1, batches(60, 5));
  await storage.values.saveCheckpoint(at(250), stream([record(9000, 500)]));
  storage = await bed.reopen(storage);
  await appendRecords(storage, 301, [50, 1, 49]);
  await storage.values.saveCheckpoint(at(380), stream(chunks.map(([seed, length]) => record(seed, length))));
  const dropped: LogPosition[] = [];
  for (let position = 1; position < 380; position += 1) {
    if (position < 80 ? position % 2 === 0 : position < 250 ? position % 5 !== 1 : position % 7 === 0) {
      dropped.push(at(position));
    }
  }
  await storage.values.drop(dropped);
  await storage.cleaner.run();
  storage = await bed.reopen(storage);
  const next = await appendRecords(storage, 401, [20, 40]);
  // A segment ends when the next one is ready. `reclaim` waits for that, so that all following records are in the last
  // one.
  await storage.values.reclaim?.();
  await appendRecords(storage, next, [3, 1, 1, 2, 1, 5, 1, 1, 1]);
  const end = await storage.log.seal(sealOf(1));
  await storage[Symbol.asyncDispose]();
  expect(bed.logger.rewrites).toBeGreaterThan(0);
  return { end, from: 380, chunks, dropped };
}

/** All files with content, without LevelDB's own lock and log of events. */
async function dataFiles(path: string, pattern = /./): Promise<string[]> {
  const own = (await readdir(path)).filter((name) => /\.(?:seg|idx|ckpt)$/.test(name));
  const meta = (await readdir(join(path, 'meta'))).filter((name) => /\.(?:log|ldb)$|^MANIFEST|^CURRENT$/.test(name));
  return [...own, ...meta.map((name) => `meta/${name}`)].filter((name) => pattern.test(name)).sort();
}

function headerOf(bytes: Uint8Array): SegmentHeader {
  return decodeSegmentHeader(bytes)!;
}

/** Where the frames of a segment begin, and where the last one ends. */
function frameOffsets(bytes: Uint8Array): number[] {
  const segment = headerOf(bytes);
  const found = [SEGMENT_HEADER_BYTES];
  for (;;) {
    const header = readFrameHeader(bytes, found.at(-1)!, segment.salt, segment.marked);
    if (header === undefined) return found;
    found.push(found.at(-1)! + frameHeaderBytes(segment) + header.payloadBytes);
  }
}

const MARK_PLACES = [0, 4096];

describe('damage to the files of a closed storage', () => {
  let bed: SegmentBed;
  let copies: DamagedCopies;
  let end: number;
  beforeAll(async () => {
    bed = await SegmentBed.make(SEGMENT_BYTES);
    const expected = await makeStorage(bed);
    end = expected.end;
    copies = new DamagedCopies(bed, expected, new URL('./check-child.ts', import.meta.url));
  });
  afterAll(async () => {
    copies[Symbol.dispose]();
    await bed[Symbol.asyncDispose]();
  });

  const damaged = (damage: Damage): Promise<string> => copies.make(damage);

  async function outcome(path: string): Promise<string> {
    const { result, warnings } = await copies.outcome(path);
    bed.logger.warnings.push(...warnings);
    return result;
  }

  /** The segment that is appended to: neither the next one, which is empty, nor one that was rewritten since. */
  async function lastSegment(): Promise<string> {
    let [last, newest] = ['', 0];
    for (const name of await dataFiles(bed.path, /\.seg$/)) {
      const bytes = await readFile(join(bed.path, name));
      const { salt, marked } = headerOf(bytes);
      const frame = readFrameHeader(bytes, SEGMENT_HEADER_BYTES, salt, marked);
      if (frame !== undefined && frame.first > newest) [last, newest] = [name, frame.first];
    }
    return last;
  }

  test('none leaves everything', async () => {
    expect(await outcome(await damaged(async () => {}))).toBe('whole');
  });

  test('is always noticed, or does no harm', { timeout: 300_000 }, async () => {
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fc.nat(), damages, async (pick, damage) => {
        let name = '';
        const path = await damaged(async (copy) => {
          const files = await dataFiles(copy);
          name = files[pick % files.length]!;
          await damage(join(copy, name));
        });
        const result = await outcome(path);
        // LevelDB's own assertions end the process if a block does not parse.
        expect(result, name).toMatch(
          name.startsWith('meta/') ? /^whole|^refused|^died: SIGABRT .*Assertion/s : /^whole|^refused/,
        );
        const kind = `${name.split('.').at(-1)}: ${result.split(':')[0]!}`;
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }),
      { numRuns: Number(process.env['DAMAGE_RUNS'] ?? 150) },
    );
    if (process.env['DAMAGE_RUNS'] !== undefined) console.log(seen);
    // Otherwise the damage hit nothing, and the property proved nothing.
    expect(seen.get('seg: refused at opening')).toBeGreaterThan(0);
    expect(seen.get('seg: refused on reading')).toBeGreaterThan(0);
    // A damaged table is rebuilt.
    expect(seen.get('idx: whole')).toBeGreaterThan(0);
    expect([...seen.keys()].filter((kind) => kind.startsWith('idx: ') && kind !== 'idx: whole')).toEqual([]);
  });

  test('any byte of the last segment is noticed', { timeout: 300_000 }, async () => {
    const name = await lastSegment();
    const bytes = await readFile(join(bed.path, name));
    const frames = frameOffsets(bytes);
    expect(frames.at(-1)).toBe(bytes.length);
    // Every byte of the headers of the segment, of a frame and of its first record, and some of the records' bytes.
    const places = [...Array.from({ length: SEGMENT_HEADER_BYTES }, (_, index) => index)];
    for (const frame of frames.slice(-5, -1)) for (let index = 0; index < 48; index += 1) places.push(frame + index);
    for (let offset = 100; offset < bytes.length; offset += 997) places.push(offset);
    const checked = places.filter((offset, index) => index % 3 === 0 || offset === bytes.length - 1);
    for (const offset of [...checked, bytes.length - 1]) {
      const result = await outcome(await damaged((copy) => flip(offset, 0x10)(join(copy, name))));
      expect(result, `offset ${offset}`).toMatch(/^refused at opening/);
    }
  });

  test('the last segment cut anywhere is noticed: all of it was acknowledged', async () => {
    const name = await lastSegment();
    const { length } = await readFile(join(bed.path, name));
    for (const keep of [0, 1, 31, 32, 33, 64, Math.floor(length / 3), Math.floor(length / 2), length - 1]) {
      const path = await damaged((copy) => truncate(join(copy, name), keep));
      expect(await outcome(path)).toMatch(/^refused at opening/);
    }
  });

  test('a missing file is noticed, or made again', async () => {
    for (const name of await dataFiles(bed.path)) {
      const result = await outcome(await damaged((copy) => rm(join(copy, name))));
      if (name.endsWith('.idx')) expect(result, name).toBe('whole');
      else if (name.endsWith('.ckpt')) expect(result, name).toMatch(/^refused on reading/);
      else if (/\.seg$|CURRENT$|\.log$/.test(name)) expect(result, name).toMatch(/^refused at opening/);
      // LevelDB's old manifests, and tables that wait for their removal, may be missing.
      else expect(result, name).not.toMatch(/^wrong|^died/);
    }
  });

  test('names the file, the place and what is gone', async () => {
    const name = await lastSegment();
    const frames = frameOffsets(await readFile(join(bed.path, name)));
    const path = await damaged((copy) => truncate(join(copy, name), frames.at(-2)! + 40));
    const gone = `the records from ${end - 1} to ${end - 1} were acknowledged and are gone`;
    await expect(bed.open(path)).rejects.toThrow(`${gone}: ${name} ends at ${frames.at(-2)}`);
    await expect(bed.open(path)).rejects.toThrow(path);
    await rm(path, { recursive: true });
  });

  test('a frame that is damaged before others is noticed without the mark beside the segments', async () => {
    const name = await lastSegment();
    const frames = frameOffsets(await readFile(join(bed.path, name)));
    for (const frame of frames.slice(0, -2)) {
      for (const place of [frame + 9, frame + 45]) {
        const path = await damaged(async (copy) => {
          await rm(join(copy, 'ACKNOWLEDGED'));
          await flip(place, 0xff)(join(copy, name));
        });
        expect(await outcome(path)).toMatch(/^refused at opening/);
      }
    }
  });

  test('a torn last frame is cut off where nothing says that it was acknowledged', async () => {
    const name = await lastSegment();
    const frames = frameOffsets(await readFile(join(bed.path, name)));
    const path = await damaged(async (copy) => {
      await rm(join(copy, 'ACKNOWLEDGED'));
      await truncate(join(copy, name), frames.at(-1)! - 1);
    });
    const storage = await bed.open(path);
    expect(await storage.log.seal(sealOf(1))).toBe(end - 1);
    await appendRecords(storage, end - 1, [1]);
    await storage[Symbol.asyncDispose]();
    expect(await outcome(path)).toBe('whole');
  });

  test('of two marks, the one that is not damaged still says what was acknowledged', async () => {
    const name = await lastSegment();
    const frames = frameOffsets(await readFile(join(bed.path, name)));
    for (const place of MARK_PLACES) {
      const path = await damaged(async (copy) => {
        await flip(place + 9, 0xff)(join(copy, 'ACKNOWLEDGED'));
        await truncate(join(copy, name), frames.at(-1)! - 1);
      });
      expect(await outcome(path)).toMatch(/^refused at opening/);
    }
  });

  test('damaged marks say nothing, and harm nothing', async () => {
    const path = await damaged(async (copy) => {
      for (const place of MARK_PLACES) await flip(place + 9, 0xff)(join(copy, 'ACKNOWLEDGED'));
    });
    const before = bed.logger.warnings.length;
    expect(await outcome(path)).toBe('whole');
    expect(bed.logger.warnings.slice(before).join()).toMatch(/mark .* is damaged/);
  });

  test('a segment that the manifest does not know is not removed', async () => {
    const name = await lastSegment();
    const path = await damaged((copy) => cp(join(copy, name), join(copy, '00000000000000ff.seg')));
    await expect(bed.open(path)).rejects.toThrow(/00000000000000ff.seg/);
    expect(await readdir(path)).toContain('00000000000000ff.seg');
    await rm(path, { recursive: true });
  });
});

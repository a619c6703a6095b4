import { join } from 'node:path';
import { type Clock, logPosition as at } from '@engram/core';
import { realClock } from '@engram/sim';
import { decodeNumbers, type Storage } from '@engram/storage';
import { appendRecords, batches, never, sealOf, stream } from '@engram/storage/testing';
import { ClassicLevel } from 'classic-level';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MARKED_FRAME_HEADER_BYTES, readFrameHeader, writeFrameHeader } from '../src/format/layout.ts';
import { SegmentBed } from './segment-bed.ts';

/** A machine whose wall clock the test sets. */
class SetClock implements Clock {
  wall = 0;
  nowMs = (): number => realClock.nowMs();
  wallMs = (): number => this.wall;
  after: Clock['after'] = (delayMs, fire) => realClock.after(delayMs, fire);
  soon: Clock['soon'] = (fire) => realClock.soon(fire);
  endOfTurn: Clock['endOfTurn'] = (fire) => realClock.endOfTurn(fire);
}

async function marksOf(storage: Storage, from = 1): Promise<(number | undefined)[]> {
  const marks: (number | undefined)[] = [];
  for await (const { wallMs } of storage.log.read(at(from), never)) marks.push(wallMs);
  return marks;
}

async function formatOf(path: string): Promise<number | undefined> {
  const level = new ClassicLevel<Uint8Array, Uint8Array>(join(path, 'meta'), {
    keyEncoding: 'view',
    valueEncoding: 'view',
  });
  const name = Uint8Array.from(Buffer.from('a'));
  try {
    const value = await level.get(name);
    return value && decodeNumbers(name, value, 1)?.numbers[0];
  } finally {
    await level.close();
  }
}

describe('the header of a frame with a mark', () => {
  const frame = { payloadBytes: 1000, records: 5, following: 2, first: 2 ** 40 + 7, previous: 0xabcdef01 };
  const headerOf = (salt: number, wallMs: number): Uint8Array => {
    const bytes = new Uint8Array(MARKED_FRAME_HEADER_BYTES);
    writeFrameHeader(new DataView(bytes.buffer), 0, salt, { ...frame, wallMs });
    return bytes;
  };

  test('comes back, in its own segment only', () => {
    const u32 = fc.nat({ max: 2 ** 32 - 1 });
    fc.assert(
      fc.property(u32, u32, fc.maxSafeNat(), (salt, other, wallMs) => {
        const bytes = headerOf(salt, wallMs);
        expect(readFrameHeader(bytes, 0, salt, true)).toMatchObject({ ...frame, wallMs });
        if (other !== salt) expect(readFrameHeader(bytes, 0, other, true)).toBeUndefined();
        expect(readFrameHeader(bytes, 0, salt, false), 'of a segment without marks').toBeUndefined();
      }),
    );
  });

  test('with any bit changed, or cut off, is none', () => {
    const bytes = headerOf(5, 1_700_000_000_123);
    for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
      const changed = bytes.slice();
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(readFrameHeader(changed, 0, 5, true), `bit ${bit}`).toBeUndefined();
    }
    for (let length = 0; length < bytes.length; length += 1)
      expect(readFrameHeader(bytes.subarray(0, length), 0, 5, true)).toBeUndefined();
  });
});

describe('the mark of a batch', () => {
  test('is the time of the node, and the mark before where its clock has gone back, also over a restart', async () => {
    const clock = new SetClock();
    await using bed = await SegmentBed.make(8 << 10, { clock });
    let storage = await bed.open();
    await storage.log.seal(sealOf(1));
    let end = 1;
    const due: number[] = [];
    const append = async (wall: number): Promise<void> => {
      clock.wall = wall;
      end = await appendRecords(storage, end, [3]);
      due.push(Math.max(Math.floor(wall), due.at(-1) ?? 0));
    };
    for (const wall of [1000, 1000.9, 2000, 1500, 2000, 2001.5]) await append(wall);
    storage = await bed.reopen(storage);
    for (const wall of [7, 1999, 2001, 2002]) await append(wall);
    // Over the ends of segments, and a start whose last segment has no record yet.
    for (let more = 0; more < 40; more += 1) await append(3000 + more);
    storage = await bed.reopen(storage);
    await append(0);
    expect(await marksOf(storage)).toEqual(due);
  });

  test('stays with what a cleaning leaves of the batch', async () => {
    const clock = new SetClock();
    await using bed = await SegmentBed.make(8 << 10, { clock });
    const storage = await bed.open();
    await storage.log.seal(sealOf(1));
    clock.wall = 1000;
    const before = await appendRecords(storage, 1, batches(10, 6));
    clock.wall = 5000;
    const end = await appendRecords(storage, before, [4, 5]);
    await storage.values.saveCheckpoint(at(before), stream([]));
    await storage.values.drop(Array.from({ length: before - 1 }, (_, index) => at(index + 1)));
    await storage.values.reclaim!();
    clock.wall = 0;
    await appendRecords(storage, end, [1]);
    expect(await marksOf(storage, before)).toEqual([5000, 5000, 5000]);
    const again = await bed.reopen(storage);
    expect(await marksOf(again, before)).toEqual([5000, 5000, 5000]);
  });
});

describe('a storage of the program before, which knew no marks', () => {
  test('is read, its segment is filled as it is, and the next ones have marks', async () => {
    await using old = await SegmentBed.make(8 << 10, { durability: 'none' });
    let storage = await old.open();
    await storage.log.seal(sealOf(1));
    let end = await appendRecords(storage, 1, [3, 2]);
    expect(await marksOf(storage), 'none are kept').toEqual([undefined, undefined]);
    await storage[Symbol.asyncDispose]();
    expect(await formatOf(old.path), 'what that program can open').toBe(2);

    const clock = new SetClock();
    await using bed = await SegmentBed.make(8 << 10, { clock });
    clock.wall = 9000;
    storage = await bed.open(old.path);
    await storage.log.seal(sealOf(1));
    for (let more = 0; more < 30; more += 1) end = await appendRecords(storage, end, [3]);
    const marks = await marksOf(storage);
    expect(marks).toHaveLength(32);
    expect(marks.slice(0, 3)).toEqual([undefined, undefined, undefined]);
    expect(marks.at(-1)).toBe(9000);
    await storage[Symbol.asyncDispose]();
    expect(await formatOf(old.path), 'what that program refuses by name').toBe(3);
    // Even if it is opened again as one that gets no marks, the format does not go back.
    const copy = await old.open();
    expect(await copy.log.seal(sealOf(2))).toBe(end);
    await appendRecords(copy, end, [2], sealOf(2));
    expect((await marksOf(copy)).slice(0, 32)).toEqual(marks);
    await copy[Symbol.asyncDispose]();
    expect(await formatOf(old.path)).toBe(3);
  });
});

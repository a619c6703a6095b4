import { logPosition } from '@engram/core';
import { finish, unhurried } from '@engram/loop';
import type { LogBatch } from '@engram/storage';
import { record } from '@engram/storage/testing';
import { describe, expect, test } from 'vitest';
import type { StorageFile } from '../src/disk/file-system.ts';
import { type AssembledFrame, FrameBuffer, type FramePlace, payloadBytes } from '../src/format/frame-buffer.ts';
import {
  decodeSegmentHeader,
  encodeSegmentHeader,
  FRAME_HEADER_BYTES,
  SEGMENT_HEADER_BYTES,
} from '../src/format/layout.ts';
import { scanSegment } from '../src/format/scan-segment.ts';

const SALT = 0x12345678;
const header = decodeSegmentHeader(encodeSegmentHeader(3, SALT, 'appended'))!;

function frameOf(batch: LogBatch, place: FramePlace, buffer = new FrameBuffer()): AssembledFrame {
  const size = FRAME_HEADER_BYTES + finish(payloadBytes(batch, unhurried));
  const offsets = new Uint32Array(batch.records.length);
  return finish(buffer.assemble(batch, size, place, SEGMENT_HEADER_BYTES, offsets, unhurried));
}

/** A segment of frames with these numbers of records, and where each frame ends. */
function segmentOf(frames: readonly number[]): { bytes: Uint8Array; ends: number[] } {
  const parts: Uint8Array[] = [encodeSegmentHeader(3, SALT, 'appended')];
  const ends: number[] = [];
  const buffer = new FrameBuffer();
  let [previous, end, position] = [header.crc, SEGMENT_HEADER_BYTES, 1];
  for (const count of frames) {
    const records = Array.from({ length: count }, (_, index) =>
      record(position + index, 3 + ((position + index) % 20)),
    );
    const batch = { first: logPosition(position), records };
    const { bytes, crc } = frameOf(batch, { salt: SALT, previous, wallMs: undefined }, buffer);
    parts.push(bytes.slice());
    end += bytes.length;
    ends.push(end);
    previous = crc;
    position += count;
  }
  return { bytes: new Uint8Array(Buffer.concat(parts)), ends };
}

function fileOf(bytes: Uint8Array): StorageFile {
  const readNow = (target: Uint8Array, offset: number): number => {
    const part = bytes.subarray(offset, offset + target.length);
    target.set(part);
    return part.length;
  };
  return {
    size: async () => bytes.length,
    read: async (target, offset) => readNow(target, offset),
    readNow,
    write: async () => {},
    truncate: async () => {},
    sync: async () => {},
    close: async () => {},
  };
}

async function scan(bytes: Uint8Array): Promise<{ records: number; end: number; rest: string }> {
  const { table, rest } = await scanSegment(fileOf(bytes), header, bytes.length);
  return { records: table.count, end: table.end, rest: rest.kind };
}

const { bytes: whole, ends } = segmentOf([3, 1, 2, 4]);
const last = ends[2]!;

function reserved(bytes: Uint8Array, zeros: number): Uint8Array {
  const longer = new Uint8Array(bytes.length + zeros);
  longer.set(bytes);
  return longer;
}

describe('scanning', () => {
  test.each([{ zeros: 0 }, { zeros: 1 }, { zeros: 31 }, { zeros: 5000 }, { zeros: 3 << 20 }])(
    'finds all that was appended, and $zeros zeros behind it',
    async ({ zeros }) => {
      expect(await scan(reserved(whole, zeros))).toEqual({ records: 10, end: whole.length, rest: 'clean' });
    },
  );

  test('a write that was torn at any byte ends the segment where it began', async () => {
    for (let kept = last; kept < whole.length; kept += 1) {
      const before = { records: 6, end: last };
      // The file ends there, or zeros were reserved.
      expect(await scan(whole.subarray(0, kept))).toEqual({ ...before, rest: kept === last ? 'clean' : 'torn' });
      const torn = whole.slice();
      torn.fill(0, kept);
      const seen = await scan(reserved(torn, 100));
      const nothing = torn.subarray(last).every((byte) => byte === 0);
      // Its last bytes may have been zeros anyway.
      if (seen.records === 6) expect(seen).toEqual({ ...before, rest: nothing ? 'clean' : 'torn' });
      else expect(torn).toEqual(whole);
    }
  });

  test('a write of which any piece is missing ends the segment where it began', async () => {
    for (let from = last; from < whole.length; from += 1) {
      for (const length of [1, 8, 64]) {
        const torn = whole.slice();
        torn.fill(0, from, Math.min(from + length, whole.length));
        if (Buffer.compare(torn, whole) === 0) continue;
        const seen = await scan(reserved(torn, 50));
        expect(seen).toMatchObject({ records: 6, end: last });
        expect(seen.rest).not.toBe('damaged');
      }
    }
  });

  test('any bit changed before the last frame is damage, and never taken for a torn write', async () => {
    for (let at = SEGMENT_HEADER_BYTES; at < last; at += 1) {
      const changed = whole.slice();
      changed[at] = changed[at]! ^ (1 << (at % 8));
      const seen = await scan(reserved(changed, 50));
      expect(seen.rest, `byte ${at}`).toBe('damaged');
      expect(seen.end).toBe([SEGMENT_HEADER_BYTES, ...ends].findLast((end) => end <= at));
    }
  });

  test('bytes behind a frame whose length is known are more than one append wrote', async () => {
    const changed = reserved(whole, 50);
    changed[last + 40] = changed[last + 40]! ^ 1;
    expect((await scan(changed)).rest).toBe('torn');
    changed[whole.length + 20] = 1;
    expect((await scan(changed)).rest).toBe('damaged');
  });

  test('frames of another segment, or in another order, are damage', async () => {
    const { bytes: other } = segmentOf([3, 1]);
    // The same frame twice: its position and its `previous` are wrong.
    const twice = new Uint8Array(Buffer.concat([other, other.subarray(ends[0]!)]));
    expect(await scan(twice)).toEqual({ records: 4, end: ends[1], rest: 'damaged' });
    const gap = new Uint8Array(Buffer.concat([whole.subarray(0, ends[0]!), whole.subarray(ends[1]!)]));
    expect(await scan(gap)).toEqual({ records: 3, end: ends[0], rest: 'damaged' });
  });

  test('a client cannot write a frame: without the salt it is bytes', async () => {
    const fake = segmentOf([1]).bytes.subarray(SEGMENT_HEADER_BYTES);
    const batch = { first: logPosition(1), records: [fake, fake] };
    const parts: Uint8Array[] = [encodeSegmentHeader(3, SALT + 1, 'appended')];
    const salted = decodeSegmentHeader(parts[0]!)!;
    const place = { salt: salted.salt, previous: salted.crc, wallMs: undefined };
    parts.push(frameOf(batch, place).bytes);
    const torn = new Uint8Array(Buffer.concat(parts));
    torn[SEGMENT_HEADER_BYTES + 2] = 0;
    const { rest } = await scanSegment(fileOf(torn), salted, torn.length);
    expect(rest.kind).toBe('torn');
  });
});

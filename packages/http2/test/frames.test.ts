import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  FrameReader,
  goAwayFrame,
  headersFrames,
  pingFrame,
  putFrameHeader,
  readSettings,
  rstStreamFrame,
  settingsAckFrame,
  settingsFrame,
  windowUpdateFrame,
} from '@engram/http2';

interface Frame {
  type: number;
  flags: number;
  streamId: number;
  payload: string;
}

function framesOf(chunks: readonly Buffer[], maxFrameBytes = 16_384): Frame[] {
  const reader = new FrameReader(maxFrameBytes);
  const frames: Frame[] = [];
  for (const chunk of chunks) {
    reader.push(chunk);
    while (reader.next()) {
      const { type, flags, streamId, bytes, start, end } = reader;
      frames.push({ type, flags, streamId, payload: bytes.toString('hex', start, end) });
    }
  }
  return frames;
}

function frameBytes({ type, flags, streamId, payload }: Frame): Buffer {
  const body = Buffer.from(payload, 'hex');
  const frame = Buffer.alloc(9 + body.length);
  body.copy(frame, putFrameHeader(frame, 0, body.length, type, flags, streamId));
  return frame;
}

test.each([
  { bytes: rstStreamFrame(2 ** 31 - 1, 8), frame: { type: 3, flags: 0, streamId: 2 ** 31 - 1, payload: '00000008' } },
  { bytes: windowUpdateFrame(0, 2 ** 31 - 1), frame: { type: 8, flags: 0, streamId: 0, payload: '7fffffff' } },
  { bytes: settingsAckFrame, frame: { type: 4, flags: 1, streamId: 0, payload: '' } },
  { bytes: settingsFrame([[3, 2 ** 32 - 1]]), frame: { type: 4, flags: 0, streamId: 0, payload: '0003ffffffff' } },
  {
    bytes: pingFrame(Buffer.from('12345678'), true),
    frame: { type: 6, flags: 1, streamId: 0, payload: '3132333435363738' },
  },
  {
    bytes: goAwayFrame(7, 11, 'too_many_pings'),
    frame: {
      type: 7,
      flags: 0,
      streamId: 0,
      payload: `000000070000000b${Buffer.from('too_many_pings').toString('hex')}`,
    },
  },
  {
    bytes: headersFrames(5, Buffer.from('ab'), true, 16_384),
    frame: { type: 1, flags: 5, streamId: 5, payload: '6162' },
  },
])('$frame is written and read', ({ bytes, frame }) => {
  expect(framesOf([bytes])).toEqual([frame]);
});

test('a long header block goes on in CONTINUATION frames', () => {
  expect(
    framesOf([headersFrames(1, Buffer.from('abcde'), true, 2)]).map(({ type, flags, payload }) => [
      type,
      flags,
      payload,
    ]),
  ).toEqual([
    [1, 1, '6162'],
    [9, 0, '6364'],
    [9, 4, '65'],
  ]);
});

test('frames come out whole and in order, however the bytes are cut', () => {
  const frame = fc.record({
    type: fc.nat(255),
    flags: fc.nat(255),
    streamId: fc.nat(2 ** 31 - 1),
    payload: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes).toString('hex')),
  });
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 10 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
      (frames, cuts) => {
        const bytes = Buffer.concat(frames.map(frameBytes));
        const chunks: Buffer[] = [];
        for (let at = 0, cut = 0; at < bytes.length; cut += 1) {
          const size = cuts[cut % cuts.length]!;
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(framesOf(chunks)).toEqual(frames);
      },
    ),
  );
});

test.each([
  [[Buffer.from('000041000000000001', 'hex')]],
  [[Buffer.from('0000', 'hex'), Buffer.from('41000000000001', 'hex')]],
])('a frame above the bound is refused by its header alone', (chunks) => {
  expect(() => framesOf(chunks, 64)).toThrow(expect.objectContaining({ code: 6, streamId: 0 }));
});

test('the reserved bit of a stream id is ignored', () => {
  expect(framesOf([Buffer.from('000000000080000001', 'hex')])).toEqual([
    { type: 0, flags: 0, streamId: 1, payload: '' },
  ]);
});

test.each([
  { payload: '000100001000', settings: [[1, 4096]], why: 'a table size' },
  {
    payload: '0003ffffffff00050000ffff',
    settings: [
      [3, 4294967295],
      [5, 65535],
    ],
    why: 'two, in order',
  },
  { payload: 'abcd00000001', settings: [[0xabcd, 1]], why: 'unknown ones are for the caller to ignore' },
])('SETTINGS $payload: $why', ({ payload, settings }) => {
  const bytes = Buffer.from(payload, 'hex');
  const found: number[][] = [];
  readSettings(bytes, 0, bytes.length, (id, value) => found.push([id, value]));
  expect(found).toEqual(settings);
});

test.each([
  { payload: '0001', code: 6, why: 'not a multiple of six bytes' },
  { payload: '000200000002', code: 1, why: 'ENABLE_PUSH is 0 or 1' },
  { payload: '000480000000', code: 3, why: 'a window beyond 31 bits' },
  { payload: '000500003fff', code: 1, why: 'a frame size below 2^14' },
  { payload: '000501000000', code: 1, why: 'a frame size above 2^24 - 1' },
])('SETTINGS $payload is error $code: $why', ({ payload, code }) => {
  const bytes = Buffer.from(payload, 'hex');
  expect(() => readSettings(bytes, 0, bytes.length, () => {})).toThrow(expect.objectContaining({ code, streamId: 0 }));
});

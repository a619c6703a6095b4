import {
  ErrorCode,
  Flag,
  goAwayFrame,
  headersFrames,
  HpackEncoder,
  Http2Error,
  pingFrame,
  rstStreamFrame,
  settingsAckFrame,
  settingsFrame,
  windowUpdateFrame,
} from '@engram/http2';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ServerFrames } from '../src/http2/server-frames.ts';
import { frame, uint32 } from './support/raw-server.ts';

const goesOn = (): boolean => false;

/** What a server's bytes say, one line for each event. */
function heard(chunks: readonly Buffer[]): string[] {
  const said: string[] = [];
  const frames = new ServerFrames({
    settings: (_, start, end) => said.push(`settings ${end - start}`),
    ping: (data) => said.push(`ping ${Buffer.from(data)}`),
    windowUpdate: (streamId, bytes) => said.push(`window ${streamId} ${bytes}`),
    data: (streamId, length, bytes, start, end, endStream) =>
      said.push(`data ${streamId} ${length} ${bytes.toString('latin1', start, end)}${endStream ? ' end' : ''}`),
    headers: (streamId, fields, endStream) =>
      said.push(`headers ${streamId} ${fields && [...fields].join(' ')}${endStream ? ' end' : ''}`),
    reset: (streamId, code) => said.push(`reset ${streamId} ${code}`),
    goAway: (lastStreamId) => said.push(`go away ${lastStreamId}`),
    fault: (error) => said.push(`fault ${error.streamId}`),
  });
  for (const chunk of chunks) frames.receive(chunk, goesOn);
  return said;
}

const settings = settingsFrame([[4, 100]]);
const block = (fields: Readonly<Record<string, string>>): Buffer =>
  new HpackEncoder(0).encode(Object.entries(fields).map(([name, value]) => ({ name, value, indexing: 'once' })));
const ok = block({ ':status': '200', 'x-a': 'b' });
const padded = (bytes: Buffer, padding: number): Buffer =>
  Buffer.concat([Buffer.from([padding]), bytes, Buffer.alloc(padding)]);

const everything = Buffer.concat([
  settings,
  settingsAckFrame,
  pingFrame(Buffer.from('12345678'), false),
  pingFrame(Buffer.from('12345678'), true),
  windowUpdateFrame(0, 5),
  windowUpdateFrame(3, 7),
  headersFrames(1, ok, false, 4),
  frame('DATA', 0, 1, Buffer.from('abc')),
  frame('DATA', Flag.PADDED, 1, padded(Buffer.from('def'), 4)),
  frame('PRIORITY', 0, 1, Buffer.alloc(5)),
  Buffer.from([0, 0, 2, 77, 0, 0, 0, 0, 1, 1, 2]),
  frame(
    'HEADERS',
    Flag.PADDED | Flag.PRIORITY | Flag.END_HEADERS | Flag.END_STREAM,
    1,
    padded(Buffer.concat([Buffer.alloc(5), block({ 'grpc-status': '0' })]), 2),
  ),
  rstStreamFrame(3, ErrorCode.CANCEL),
  goAwayFrame(5, ErrorCode.NO_ERROR, 'good bye'),
]);
const said = [
  'settings 6',
  'ping 12345678',
  'window 0 5',
  'window 3 7',
  'headers 1 :status,200 x-a,b',
  'data 1 3 abc',
  'data 1 8 def',
  'headers 1 grpc-status,0 end',
  'reset 3 8',
  'go away 5',
];

describe('the frames of a server', () => {
  test('are read by their types; padding, priorities and unknown types are left out', () => {
    expect(heard([everything])).toEqual(said);
  });

  test('say the same cut in two at every byte', () => {
    for (let at = 0; at <= everything.length; at += 1) {
      expect(heard([everything.subarray(0, at), everything.subarray(at)]), `cut at ${at}`).toEqual(said);
    }
  });

  test('say the same a byte at a time', () => {
    expect(heard([...everything].map((byte) => Buffer.from([byte])))).toEqual(said);
  });
});

test('any bytes are read or refused, and say the same however they are cut', () => {
  const read = (chunks: readonly Buffer[]): string => {
    try {
      return heard(chunks).join('\n');
    } catch (error) {
      expect(error).toBeInstanceOf(Http2Error);
      return String(error);
    }
  };
  const damage = fc.record({ at: fc.nat(everything.length - 1), byte: fc.nat(255) });
  fc.assert(
    fc.property(fc.array(damage, { maxLength: 6 }), fc.nat(everything.length), (damages, cut) => {
      const bytes = Buffer.from(everything);
      for (const { at, byte } of damages) bytes[at] = byte;
      expect(read([bytes.subarray(0, cut), bytes.subarray(cut)])).toBe(read([bytes]));
    }),
    { numRuns: 2_000 },
  );
});

const { PROTOCOL_ERROR, FRAME_SIZE_ERROR, COMPRESSION_ERROR, ENHANCE_YOUR_CALM } = ErrorCode;
test.each([
  {
    name: 'an answer of HTTP/1',
    bytes: Buffer.from('HTTP/1.1 400 Bad Request\r\n'),
    code: FRAME_SIZE_ERROR,
    bare: true,
  },
  { name: 'a beginning without settings', bytes: pingFrame(Buffer.alloc(8), false), code: PROTOCOL_ERROR, bare: true },
  { name: 'a beginning with an acknowledgement', bytes: settingsAckFrame, code: PROTOCOL_ERROR, bare: true },
  { name: 'a frame above the bound', bytes: frame('DATA', 0, 1, Buffer.alloc(16_385)), code: FRAME_SIZE_ERROR },
  { name: 'DATA of the connection', bytes: frame('DATA', 0, 0), code: PROTOCOL_ERROR },
  { name: 'HEADERS of the connection', bytes: frame('HEADERS', Flag.END_HEADERS, 0), code: PROTOCOL_ERROR },
  { name: 'RST_STREAM of the connection', bytes: rstStreamFrame(0, 0), code: PROTOCOL_ERROR },
  { name: 'SETTINGS of a stream', bytes: frame('SETTINGS', 0, 1), code: PROTOCOL_ERROR },
  { name: 'PING of a stream', bytes: frame('PING', 0, 1, Buffer.alloc(8)), code: PROTOCOL_ERROR },
  { name: 'GOAWAY of a stream', bytes: frame('GOAWAY', 0, 1, Buffer.alloc(8)), code: PROTOCOL_ERROR },
  { name: 'a long RST_STREAM', bytes: frame('RST_STREAM', 0, 1, Buffer.alloc(5)), code: FRAME_SIZE_ERROR },
  { name: 'a long PING', bytes: frame('PING', 0, 0, Buffer.alloc(9)), code: FRAME_SIZE_ERROR },
  { name: 'a short GOAWAY', bytes: frame('GOAWAY', 0, 0, Buffer.alloc(7)), code: FRAME_SIZE_ERROR },
  { name: 'a short WINDOW_UPDATE', bytes: frame('WINDOW_UPDATE', 0, 0, Buffer.alloc(3)), code: FRAME_SIZE_ERROR },
  {
    name: 'an acknowledgement with settings',
    bytes: frame('SETTINGS', Flag.ACK, 0, Buffer.alloc(6)),
    code: FRAME_SIZE_ERROR,
  },
  { name: 'PUSH_PROMISE', bytes: frame('PUSH_PROMISE', Flag.END_HEADERS, 1, uint32(2)), code: PROTOCOL_ERROR },
  { name: 'more padding than DATA', bytes: frame('DATA', Flag.PADDED, 1, Buffer.from([2, 0])), code: PROTOCOL_ERROR },
  { name: 'no pad length', bytes: frame('DATA', Flag.PADDED, 1), code: FRAME_SIZE_ERROR },
  {
    name: 'more padding than HEADERS behind a priority',
    bytes: frame('HEADERS', Flag.PADDED | Flag.PRIORITY | Flag.END_HEADERS, 1, Buffer.from([3, 0, 0, 0, 0])),
    code: PROTOCOL_ERROR,
  },
  { name: 'CONTINUATION alone', bytes: frame('CONTINUATION', Flag.END_HEADERS, 1, ok), code: PROTOCOL_ERROR },
  {
    name: 'a frame inside a header block',
    bytes: Buffer.concat([frame('HEADERS', 0, 1, ok), pingFrame(Buffer.alloc(8), false)]),
    code: PROTOCOL_ERROR,
  },
  {
    name: 'CONTINUATION of another stream',
    bytes: Buffer.concat([frame('HEADERS', 0, 1, ok), frame('CONTINUATION', Flag.END_HEADERS, 3, ok)]),
    code: PROTOCOL_ERROR,
  },
  {
    name: 'a damaged header block',
    bytes: frame('HEADERS', Flag.END_HEADERS, 1, Buffer.from([0xff])),
    code: COMPRESSION_ERROR,
  },
  {
    name: 'a header block of too many bytes',
    bytes: Buffer.concat([
      frame('HEADERS', 0, 1, Buffer.alloc(16_384)),
      ...Array.from({ length: 4 }, () => frame('CONTINUATION', 0, 1, Buffer.alloc(16_384))),
    ]),
    code: ENHANCE_YOUR_CALM,
  },
  {
    name: 'a header block of too many frames',
    bytes: Buffer.concat([frame('HEADERS', 0, 1), ...Array.from({ length: 64 }, () => frame('CONTINUATION', 0, 1))]),
    code: ENHANCE_YOUR_CALM,
  },
])('the connection ends at $name', ({ bytes, code, bare }) => {
  expect(() => heard(bare ? [bytes] : [settings, bytes])).toThrow(
    expect.objectContaining({ name: 'Http2Error', code, streamId: 0 }),
  );
});

test.each([
  { name: 'a capital in a name', fields: { 'X-A': 'b' } },
  { name: 'a line break in a value', fields: { 'x-a': 'b\nc' } },
  {
    name: 'more than its bound',
    fields: {
      'x-a': 'b'.repeat(16_000),
      'x-b': 'c'.repeat(16_000),
      'x-c': 'd'.repeat(16_000),
      'x-d': 'e'.repeat(18_000),
    },
  },
])('a header list with $name is malformed', ({ fields }) => {
  expect(heard([settings, headersFrames(1, block(fields), true, 16_384)])).toEqual([
    'settings 6',
    'headers 1 undefined end',
  ]);
});

test('a fault of a stream leaves the connection', () => {
  const faults: number[] = [];
  const frames = new ServerFrames({
    settings: () => {},
    ping: () => {},
    windowUpdate: (streamId) => {
      throw new Http2Error(PROTOCOL_ERROR, 'no', streamId);
    },
    data: () => {},
    headers: () => {},
    reset: () => {},
    goAway: () => {},
    fault: (error) => faults.push(error.streamId),
  });
  frames.receive(Buffer.concat([settings, windowUpdateFrame(3, 1), windowUpdateFrame(5, 1)]), goesOn);
  expect(faults).toEqual([3, 5]);
  expect(() => frames.receive(windowUpdateFrame(0, 1), goesOn)).toThrow(Http2Error);
});

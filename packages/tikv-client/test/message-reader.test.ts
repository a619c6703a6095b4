import { deflateSync, gzipSync } from 'node:zlib';
import { GrpcCode } from '@engram/core';
import { describe, expect, test } from 'vitest';
import { MESSAGE_BYTES_MAX, MessageReader } from '../src/transport/message-reader.ts';
import { grpcMessage, uint32 } from './support/raw-server.ts';

const always = (): boolean => true;

/** The messages of `chunks`, as text. */
function read(chunks: readonly Buffer[], encoding = 'identity'): { messages: string[]; reader: MessageReader } {
  const messages: string[] = [];
  const reader = new MessageReader((bytes) => messages.push(bytes.toString()));
  reader.setEncoding(encoding);
  for (const chunk of chunks) reader.read(chunk, 0, chunk.length, always);
  return { messages, reader };
}

const three = Buffer.concat([grpcMessage('first'), grpcMessage(''), grpcMessage('the third')]);
const texts = ['first', '', 'the third'];

describe('a stream of messages', () => {
  test('is read whole', () => {
    expect(read([three]).messages).toEqual(texts);
  });

  test('is the same cut in two at every byte', () => {
    for (let at = 0; at <= three.length; at += 1) {
      const { messages, reader } = read([three.subarray(0, at), three.subarray(at)]);
      expect(messages, `cut at ${at}`).toEqual(texts);
      expect(reader.isInside).toBe(false);
    }
  });

  test('is the same a byte at a time', () => {
    expect(read([...three].map((byte) => Buffer.from([byte]))).messages).toEqual(texts);
  });

  test('has a message inside until its last byte', () => {
    for (let at = 1; at < 10; at += 1) expect(read([three.subarray(0, at)]).reader.isInside, `${at} bytes`).toBe(true);
    expect(read([three.subarray(0, 10)]).reader.isInside).toBe(false);
  });

  test('is read no further when its reader has had enough', () => {
    const messages: string[] = [];
    const reader = new MessageReader((bytes) => messages.push(bytes.toString()));
    reader.read(three, 0, three.length, () => messages.length === 0);
    expect(messages).toEqual(['first']);
  });
});

test('a message of many chunks is one piece', () => {
  const body = Buffer.alloc(9 << 20, 'abcdefg');
  const bytes = grpcMessage(body);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 16_384) chunks.push(bytes.subarray(at, at + 16_384));
  let got: Buffer | undefined;
  const reader = new MessageReader((message) => {
    got = message;
  });
  for (const chunk of chunks) reader.read(chunk, 0, chunk.length, always);
  expect(got?.equals(body)).toBe(true);
});

test('a message that is only announced takes little room', () => {
  const before = process.memoryUsage().arrayBuffers;
  const { reader } = read([Buffer.concat([Buffer.from([0]), uint32(MESSAGE_BYTES_MAX), Buffer.from('x')])]);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 << 20);
  expect(reader.isInside).toBe(true);
});

test.each([
  { name: 'whole', chunks: (bytes: Buffer) => [bytes] },
  { name: 'in parts', chunks: (bytes: Buffer) => [bytes.subarray(0, 3), bytes.subarray(3)] },
])('a message above the bound is refused by its prefix ($name)', ({ chunks }) => {
  const prefix = Buffer.concat([Buffer.from([0]), uint32(MESSAGE_BYTES_MAX + 1)]);
  expect(() => read(chunks(prefix))).toThrow(expect.objectContaining({ grpc: GrpcCode.INTERNAL }));
});

test.each([
  { encoding: 'gzip', compress: gzipSync },
  { encoding: 'deflate', compress: deflateSync },
])('a message is decompressed: $encoding', ({ encoding, compress }) => {
  const bytes = Buffer.concat([grpcMessage(compress('small'), 1), grpcMessage('plain')]);
  expect(read([bytes], encoding).messages).toEqual(['small', 'plain']);
});

test.each([
  { name: 'without an encoding', flag: 1, encoding: 'identity', body: gzipSync('x') },
  { name: 'of an unknown encoding', flag: 1, encoding: 'snappy', body: gzipSync('x') },
  { name: 'of an unknown flag', flag: 2, encoding: 'gzip', body: gzipSync('x') },
  { name: 'that is damaged', flag: 1, encoding: 'gzip', body: Buffer.from('no gzip') },
])('a compressed message $name is refused', ({ flag, encoding, body }) => {
  expect(() => read([grpcMessage(body, flag)], encoding)).toThrow(expect.objectContaining({ grpc: GrpcCode.INTERNAL }));
});

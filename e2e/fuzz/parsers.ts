import { isEngramError } from '@engram/core';
import { decodePeerMessage, ElectionError } from '@engram/election';
import { FrameReader, FrameType, type HeaderField, HpackDecoder, Http2Error, readSettings } from '@engram/http2';
import {
  decodeDeleteRange,
  decodeKeepAlive,
  decodePut,
  decodeRange,
  decodeTxn,
  decodeTxnWithin,
  etcdserverpb,
  StatusError,
  WireError,
} from '@engram/wire';
import { readJson, writeJson } from './gateway-json.ts';

/** A parser: throws only errors that a client may see, and its time is proportional to the bytes. */
export interface Parser {
  readonly name: string;
  parse(bytes: Buffer): void | Promise<void>;
}

export const mayThrow = (error: unknown): boolean =>
  error instanceof WireError ||
  error instanceof StatusError ||
  error instanceof Http2Error ||
  error instanceof ElectionError ||
  isEngramError(error);

const MAX_TXN_OPS = 128;
const FRAME_MAX_BYTES = 16_384;
const HEADER_TABLE_BYTES = 4096;

/** Reads frames in chunks whose size the first byte sets. Decodes header blocks and reads settings. */
function parseFrames(bytes: Buffer): void {
  const reader = new FrameReader(FRAME_MAX_BYTES);
  const decoder = new HpackDecoder(HEADER_TABLE_BYTES);
  const step = 1 + (bytes[0] ?? 0) * 7;
  for (let at = 1; at < bytes.length; at += step) {
    reader.push(bytes.subarray(at, at + step));
    while (reader.next()) {
      const { type, start, end } = reader;
      if (type === FrameType.HEADERS) decoder.decode(reader.bytes, start, end, new Fields());
      else if (type === FrameType.SETTINGS) readSettings(reader.bytes, start, end, () => {});
    }
  }
}

class Fields {
  bytes = 0;
  field({ name, value }: HeaderField): void {
    this.bytes += name.length + value.length;
  }
}

/** Decodes, encodes, decodes and encodes again: both encodings must be equal. */
export const generatedParsers: readonly Parser[] = Object.entries(etcdserverpb).flatMap(([name, decode]) => {
  if (!name.startsWith('decode') || typeof decode !== 'function') return [];
  const encode: unknown = Object.entries(etcdserverpb).find(
    ([other]) => other === name.replace('decode', 'encode'),
  )?.[1];
  if (typeof encode !== 'function') return [];
  const parse = (bytes: Buffer): void => {
    const once = Buffer.from(Reflect.apply(encode, undefined, [Reflect.apply(decode, undefined, [bytes])]));
    const again = Buffer.from(Reflect.apply(encode, undefined, [Reflect.apply(decode, undefined, [once])]));
    if (!once.equals(again)) throw new Error(`${name}: another message when it is read again`);
  };
  return [{ name, parse }];
});

/** Those that are written by hand. */
export const pureParsers: readonly Parser[] = [
  { name: 'json', parse: readJson },
  { name: 'json-of-message', parse: writeJson },
  { name: 'frames', parse: parseFrames },
  {
    name: 'hpack',
    parse: (bytes) => {
      const decoder = new HpackDecoder(HEADER_TABLE_BYTES);
      const half = bytes.length >> 1;
      decoder.decode(bytes, 0, half, new Fields());
      decoder.decode(bytes, half, bytes.length, new Fields());
    },
  },
  { name: 'range', parse: (bytes) => void decodeRange(bytes) },
  { name: 'put', parse: (bytes) => void decodePut(bytes) },
  { name: 'delete-range', parse: (bytes) => void decodeDeleteRange(bytes) },
  { name: 'txn', parse: (bytes) => void decodeTxnWithin(bytes, MAX_TXN_OPS) },
  { name: 'forwarded txn', parse: (bytes) => void decodeTxn(bytes) },
  { name: 'peer-message', parse: (bytes) => void decodePeerMessage(bytes) },
  { name: 'keep-alive', parse: (bytes) => void decodeKeepAlive(bytes) },
];

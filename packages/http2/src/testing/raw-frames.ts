import { ErrorCode, Flag, FrameType } from '../constants.ts';
import { FrameReader } from '../frame-reader.ts';
import { putFrameHeader } from '../frame-writer.ts';
import { HpackDecoder } from '../hpack-decoder.ts';

export interface RawFrame {
  /** The name of its type, or the number of one that has none. */
  readonly type: string;
  readonly ack: boolean;
  readonly endStream: boolean;
  readonly streamId: number;
  readonly payload: Buffer;
  /** Of HEADERS: names and values, in their order. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

const typeNames = Object.fromEntries(Object.entries(FrameType).map(([name, type]) => [type, name]));
const codeNames = Object.fromEntries(Object.entries(ErrorCode).map(([name, code]) => [code, name]));

export const codeName = (code: number): string | undefined => codeNames[code];

/** Any frame, valid or not. */
export function frame(
  type: keyof typeof FrameType,
  flags: number,
  streamId: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const bytes = Buffer.alloc(9 + payload.length);
  bytes.set(payload, putFrameHeader(bytes, 0, payload.length, FrameType[type], flags, streamId));
  return bytes;
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function grpcMessage(body: string | Uint8Array, flag = 0): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from([flag]), uint32(bytes.length), bytes]);
}

/** Cuts what a peer sends into frames, and checks nothing. */
export class RawFrameReader {
  readonly #reader = new FrameReader(2 ** 24 - 1);
  readonly #decoder = new HpackDecoder(4096);

  /** The frames that end in this chunk. */
  receive(chunk: Buffer): readonly RawFrame[] {
    const frames: RawFrame[] = [];
    this.#reader.push(chunk);
    while (this.#reader.next()) frames.push(this.#frame());
    return frames;
  }

  #frame(): RawFrame {
    const { type, flags, streamId, bytes, start, end } = this.#reader;
    const fields: (readonly [string, string])[] = [];
    if (type === FrameType.HEADERS) {
      this.#decoder.decode(bytes, start, end, { field: ({ name, value }) => fields.push([name, value]) });
    }
    const ends = type === FrameType.DATA || type === FrameType.HEADERS;
    return {
      type: typeNames[type] ?? String(type),
      ack: !ends && (flags & Flag.ACK) !== 0,
      endStream: ends && (flags & Flag.END_STREAM) !== 0,
      streamId,
      payload: Buffer.from(bytes.subarray(start, end)),
      fields,
    };
  }
}

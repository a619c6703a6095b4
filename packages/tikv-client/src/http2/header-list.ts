import { type FieldSink, type HeaderField, type HpackDecoder, ErrorCode, Http2Error } from '@engram/http2';
import type { Fields } from './client-stream.ts';

/** Bounds of one header block: its bytes on the wire, its frames, and its fields as RFC 9113 §6.5.2 counts them. */
export const BLOCK_BYTES_MAX = 64 << 10;
const FRAMES_MAX = 64;

/** The list of one block, or undefined if it is malformed or above its bound. The block is decoded to its end in any case. */
export function readFields(decoder: HpackDecoder, block: Buffer, start: number, end: number): Fields | undefined {
  const fields = new Map<string, string>();
  let bytes = 0;
  let malformed = false;
  const sink: FieldSink = {
    field(field: HeaderField): void {
      bytes += field.size;
      malformed ||= field.malformed;
      if (bytes <= BLOCK_BYTES_MAX) fields.set(field.name, field.value);
    },
  };
  decoder.decode(block, start, end, sink);
  return malformed || bytes > BLOCK_BYTES_MAX ? undefined : fields;
}

/** A header block that is split over HEADERS and CONTINUATION frames. */
export class SplitBlock {
  readonly streamId: number;
  readonly endStream: boolean;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(streamId: number, endStream: boolean) {
    this.streamId = streamId;
    this.endStream = endStream;
  }

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    this.#pieces.push(piece);
    if (this.#bytes > BLOCK_BYTES_MAX || this.#pieces.length > FRAMES_MAX) {
      throw new Http2Error(ErrorCode.ENHANCE_YOUR_CALM, 'a header block above its bound');
    }
  }

  whole(): Buffer {
    return Buffer.concat(this.#pieces, this.#bytes);
  }
}

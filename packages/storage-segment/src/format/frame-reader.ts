import type { StorageFile } from '../disk/file-system.ts';
import {
  checkRecord,
  type FrameHeader,
  frameHeaderBytes,
  headerBytesOf,
  RECORD_HEADER_BYTES,
  readFrameHeader,
  type SegmentHeader,
} from './layout.ts';

const WINDOW_BYTES = 1 << 20;

export interface Frame {
  readonly header: FrameHeader;
  /** The offset in the file. */
  readonly offset: number;
  /** The offset of its end. */
  readonly end: number;
  /** A view of the whole frame, header included. Valid as long as the caller holds it. */
  readonly bytes: Uint8Array;
}

/** There is no whole frame. `header` is set if at least the header is whole. */
export interface NoFrame {
  readonly header: FrameHeader | undefined;
}

/** Reads frames in sequence, a MiB at a time. Verifies their headers, not their records. */
export class FrameReader {
  readonly #file: StorageFile;
  readonly #segment: Pick<SegmentHeader, 'salt' | 'marked'>;
  /** The reader does not read beyond this offset. */
  readonly #end: number;
  #window = new Uint8Array(0);
  #windowAt = 0;

  constructor(file: StorageFile, segment: Pick<SegmentHeader, 'salt' | 'marked'>, end: number) {
    this.#file = file;
    this.#segment = segment;
    this.#end = end;
  }

  async frameAt(offset: number): Promise<Frame | NoFrame> {
    const { salt, marked } = this.#segment;
    const headerBytes = frameHeaderBytes(this.#segment);
    const head = await this.#bytesAt(offset, headerBytes);
    const header = head === undefined ? undefined : readFrameHeader(head, 0, salt, marked);
    if (header === undefined) return { header };
    const bytes = await this.#bytesAt(offset, headerBytes + header.payloadBytes);
    if (bytes === undefined) return { header };
    return { header, offset, end: offset + bytes.length, bytes };
  }

  /** Undefined if the file ends before. */
  async #bytesAt(offset: number, length: number): Promise<Uint8Array | undefined> {
    if (offset + length > this.#end) return undefined;
    const from = offset - this.#windowAt;
    if (from < 0 || from + length > this.#window.length) {
      const wanted = Math.min(Math.max(length, WINDOW_BYTES), this.#end - offset);
      // A new array each time, because callers hold views of the last one.
      const window = new Uint8Array(Buffer.allocUnsafeSlow(wanted).buffer);
      const read = await this.#file.read(window, offset);
      this.#window = window.subarray(0, read);
      this.#windowAt = offset;
      if (read < length) return undefined;
    }
    const at = offset - this.#windowAt;
    return this.#window.subarray(at, at + length);
  }
}

export function isFrame(found: Frame | NoFrame): found is Frame {
  return 'bytes' in found;
}

/**
 * Calls `visit` with each record of the frame from position `from` on, verified. Returns the position of the first
 * damaged one; undefined if there is none.
 */
export function visitRecords(
  { header, bytes }: Frame,
  visit: (position: number, start: number, end: number) => void,
  from = 0,
): number | undefined {
  let at = headerBytesOf(header);
  for (let index = 0; index < header.records; index += 1) {
    const position = header.first + index;
    if (position < from) {
      // Skipped by its length. If the length is damaged, the next record is not whole.
      at += RECORD_HEADER_BYTES + lengthAt(bytes, at);
      continue;
    }
    const length = checkRecord(bytes, at, bytes.length, position);
    if (length === undefined) return position;
    at += RECORD_HEADER_BYTES;
    visit(position, at, at + length);
    at += length;
  }
  return at === bytes.length ? undefined : header.first + header.records - 1;
}

function lengthAt(bytes: Uint8Array, at: number): number {
  if (at + RECORD_HEADER_BYTES > bytes.length) return bytes.length;
  return new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0, true);
}

import type { StorageFile } from '../disk/file-system.ts';
import { type Frame, FrameReader, isFrame, visitRecords } from './frame-reader.ts';
import {
  FRAME_MAGIC_BYTES,
  type FrameHeader,
  frameHeaderBytes,
  readFrameHeader,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
} from './layout.ts';
import { RecordTable } from './record-table.ts';

const CHUNK_BYTES = 1 << 20;

export interface Scan {
  /** The table of all whole frames, up to the first that is not. */
  readonly table: RecordTable;
  /** The CRC of the last whole frame's header, or of the segment's if there is none. */
  readonly chain: number;
  /** The last whole frame, as it was read. */
  readonly lastFrame: Frame | undefined;
  readonly rest: Rest;
}

/** What follows the last whole frame. */
export type Rest =
  /** Nothing, or zeros. */
  | { readonly kind: 'clean' }
  /** Bytes that are not a frame, without a frame after them. A torn append leaves this. */
  | { readonly kind: 'torn' }
  /** Bytes that were a frame. A whole frame follows, or the bytes are more than one append can have written. */
  | { readonly kind: 'damaged'; readonly what: string };

/** Reads a segment from its first frame on and verifies every record. Holds two MiB besides its largest frame. */
export async function scanSegment(file: StorageFile, header: SegmentHeader, size: number): Promise<Scan> {
  const table = new RecordTable(SEGMENT_HEADER_BYTES, header.kind === 'cleaned', frameHeaderBytes(header));
  const reader = new FrameReader(file, header, size);
  let chain = header.crc;
  let lastFrame: Frame | undefined;
  for (;;) {
    const found = await reader.frameAt(table.end);
    if (found.header !== undefined && !continues(table, chain, found.header)) {
      const rest = { kind: 'damaged', what: `the frame at ${table.end} does not follow the one before it` } as const;
      return { table, chain, lastFrame, rest };
    }
    if (!isFrame(found) || visitRecords(found, () => {}) !== undefined) {
      const rest = await examineRest(file, header, table.end, size, found.header);
      return { table, chain, lastFrame, rest };
    }
    lastFrame = found;
    table.beginFrame();
    visitRecords(found, (position, start, end) => table.add(position, end - start, position === found.header.first));
    chain = found.header.crc;
  }
}

function continues(table: RecordTable, chain: number, header: FrameHeader): boolean {
  if (header.previous !== chain) return false;
  if (table.count === 0) return true;
  return table.sparse ? header.first >= table.next : header.first === table.next;
}

/** `header` is that of the frame that is not whole, if it can be read. */
async function examineRest(
  file: StorageFile,
  segment: SegmentHeader,
  from: number,
  size: number,
  header: FrameHeader | undefined,
): Promise<Rest> {
  // A torn append has written all of these bytes. If its header can be read, no bytes may be after the end that it
  // gives.
  const torn = header === undefined ? size : Math.min(size, from + frameHeaderBytes(segment) + header.payloadBytes);
  let clean = true;
  // Chunks overlap by a header, so that a header across their border is found.
  const overlap = frameHeaderBytes(segment) - 1;
  for (let at = from; at < size; at += CHUNK_BYTES) {
    const chunk = new Uint8Array(Math.min(CHUNK_BYTES + overlap, size - at));
    const bytes = chunk.subarray(0, await file.read(chunk, at));
    const used = usedBytes(bytes);
    if (used === 0) continue;
    clean = false;
    if (at + used > torn) return { kind: 'damaged', what: `bytes behind the frame at ${from}, which is not whole` };
    const frame = findFrame(bytes, segment, at === from ? 1 : 0);
    if (frame !== undefined) {
      return { kind: 'damaged', what: `the frame at ${from} is not whole, but one follows at ${at + frame}` };
    }
  }
  return clean ? { kind: 'clean' } : { kind: 'torn' };
}

/** The number of bytes up to the last one that is not zero. */
function usedBytes(bytes: Uint8Array): number {
  let used = bytes.length;
  while (used > 0 && bytes[used - 1] === 0) used -= 1;
  return used;
}

function findFrame(bytes: Uint8Array, { salt, marked }: SegmentHeader, from: number): number | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = buffer.indexOf(FRAME_MAGIC_BYTES, from); at >= 0; at = buffer.indexOf(FRAME_MAGIC_BYTES, at + 1)) {
    if (readFrameHeader(bytes, at, salt, marked) !== undefined) return at;
  }
  return undefined;
}

import { crc32 } from 'node:zlib';
import { systemErrorCode } from '@engram/core';
import type { Condition } from '../disk/condition.ts';
import { filePath } from '../disk/file-names.ts';
import type { FileSystem } from '../disk/file-system.ts';
import type { SegmentHeader } from '../format/layout.ts';
import { frameHeaderBytes, getU64, setU64 } from '../format/layout.ts';
import type { SealedNote } from '../manifest/manifest.ts';
import { RecordTable } from '../format/record-table.ts';

// The table of a sealed segment, in a file beside it: a header, the offsets, and the deltas if positions are missing.
//
// - magic, crc (of everything after it), salt, sparse, id (u64), first (u64), records (u64), end (u64), chain, 0
const HEADER_BYTES = 56;
const MAGIC = 0x49474e45; // "ENGI"
const CRC_FROM = 8;

/** Saves the table, so that opening need not read the segment. If it is lost or damaged, the segment is read. */
export async function writeSidecar(
  fileSystem: FileSystem,
  path: string,
  header: SegmentHeader,
  table: RecordTable,
  chain: number,
): Promise<void> {
  const target = filePath(path, 'idx', header.id);
  const file = await fileSystem.open(target, 'create');
  try {
    await file.write(encode(header, table, chain), 0);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Undefined if there is none that agrees with the manifest. */
export async function readSidecar(
  fileSystem: FileSystem,
  condition: Condition,
  header: SegmentHeader,
  note: SealedNote,
): Promise<{ readonly table: RecordTable; readonly chain: number } | undefined> {
  const path = filePath(condition.path, 'idx', header.id);
  try {
    const file = await fileSystem.open(path, 'read');
    try {
      const bytes = new Uint8Array(await file.size());
      if ((await file.read(bytes, 0)) !== bytes.length) return undefined;
      const decoded = decode(bytes, header, note);
      if (decoded === undefined)
        condition.logger.warn({ path }, 'the table of a segment is damaged: reading the segment');
      return decoded;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT')
      condition.logger.warn({ path, err: error }, 'cannot read the table of a segment');
    return undefined;
  }
}

function encode(header: SegmentHeader, table: RecordTable, chain: number): Uint8Array {
  const { offsets, deltas } = table.columns;
  const bytes = new Uint8Array(HEADER_BYTES + offsets.byteLength + (deltas?.byteLength ?? 0));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(8, header.salt, true);
  view.setUint32(12, deltas === undefined ? 0 : 1, true);
  setU64(view, 16, header.id);
  setU64(view, 24, table.first);
  setU64(view, 32, table.count);
  setU64(view, 40, table.end);
  view.setUint32(48, chain, true);
  // Typed arrays are little endian wherever Node runs.
  bytes.set(new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength), HEADER_BYTES);
  if (deltas !== undefined) {
    bytes.set(new Uint8Array(deltas.buffer, deltas.byteOffset, deltas.byteLength), HEADER_BYTES + offsets.byteLength);
  }
  view.setUint32(4, crc32(bytes.subarray(CRC_FROM)), true);
  return bytes;
}

function decode(
  bytes: Uint8Array<ArrayBuffer>,
  header: SegmentHeader,
  note: SealedNote,
): { readonly table: RecordTable; readonly chain: number } | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer);
  if (view.getUint32(0, true) !== MAGIC || view.getUint32(4, true) !== crc32(bytes.subarray(CRC_FROM)))
    return undefined;
  if (view.getUint32(8, true) !== header.salt || getU64(view, 16) !== header.id) return undefined;
  const sparse = view.getUint32(12, true) === 1;
  const [first, records, end] = [getU64(view, 24), getU64(view, 32), getU64(view, 40)];
  if (first !== note.first || records !== note.records || end !== note.bytes) return undefined;
  if (bytes.length !== HEADER_BYTES + 4 * records * (sparse ? 2 : 1)) return undefined;
  const offsets = new Uint32Array(bytes.buffer.slice(HEADER_BYTES, HEADER_BYTES + 4 * records));
  const deltas = sparse ? new Uint32Array(bytes.buffer.slice(HEADER_BYTES + 4 * records)) : undefined;
  const table = RecordTable.restore(first, end, offsets, deltas, frameHeaderBytes(header));
  return table.next === note.next ? { table, chain: view.getUint32(48, true) } : undefined;
}

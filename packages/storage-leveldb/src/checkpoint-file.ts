import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { systemErrorCode } from '@engram/core';
import { FILE_MODE, openIfThere } from './files.ts';

// A chunk is its length (u32), a CRC-32 (u32), both little endian, and its bytes. The CRC covers a constant, the chunk's
// number and length, and the bytes. So a file of zeros does not hold valid, empty chunks.
const HEADER_BYTES = 8;
const CHUNK_SEED = crc32('checkpoint chunk');
/** The file is synced after this many bytes. The next append would have to wait for unsynced bytes. */
const SYNC_BYTES = 4 << 20;

/** When it resolves, the content of the file is durable. The caller makes the name of the file durable. */
export async function writeChunks(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ readonly chunks: number; readonly bytes: number }> {
  await using file = await open(path, 'w', FILE_MODE);
  let count = 0;
  let bytes = 0;
  let unsynced = 0;
  for await (const chunk of chunks) {
    const header = new DataView(new ArrayBuffer(HEADER_BYTES));
    header.setUint32(0, chunk.length, true);
    header.setUint32(4, chunkCrc(chunk, count), true);
    await writeAll(file, [new Uint8Array(header.buffer), chunk]);
    count += 1;
    bytes += chunk.length;
    unsynced += chunk.length;
    if (unsynced < SYNC_BYTES) continue;
    await file.datasync();
    unsynced = 0;
  }
  await file.datasync();
  return { chunks: count, bytes };
}

/** Yields `count` chunks. Returns early at the first chunk that is missing or damaged. */
export async function* readChunks(path: string, count: number): AsyncGenerator<Uint8Array> {
  await using file = await openIfThere(path, 'r');
  if (file === undefined) return;
  let position = 0;
  const { size } = await file.stat();
  for (let index = 0; index < count; index += 1) {
    const header = await readAt(file, position, HEADER_BYTES, size);
    if (header === undefined) return;
    const view = new DataView(header.buffer);
    const chunk = await readAt(file, position + HEADER_BYTES, view.getUint32(0, true), size);
    if (chunk === undefined || chunkCrc(chunk, index) !== view.getUint32(4, true)) return;
    position += HEADER_BYTES + chunk.length;
    yield chunk;
  }
}

function chunkCrc(chunk: Uint8Array, index: number): number {
  const place = new DataView(new ArrayBuffer(8));
  place.setUint32(0, index, true);
  place.setUint32(4, chunk.length, true);
  return crc32(chunk, crc32(new Uint8Array(place.buffer), CHUNK_SEED));
}

type Handle = Awaited<ReturnType<typeof open>>;

async function writeAll(file: Handle, parts: Uint8Array[]): Promise<void> {
  let left = 0;
  for (const part of parts) left += part.length;
  const { bytesWritten } = await file.writev(parts);
  if (bytesWritten === left) return;
  // A full disk writes only a part, and fails the next write.
  for (let rest = Buffer.concat(parts).subarray(bytesWritten); rest.length > 0; ) {
    rest = rest.subarray((await file.write(rest)).bytesWritten);
  }
}

async function readAt(file: Handle, position: number, length: number, size: number): Promise<Uint8Array | undefined> {
  if (position + length > size) return undefined;
  const bytes = new Uint8Array(length);
  try {
    for (let at = 0; at < length; ) {
      const { bytesRead } = await file.read(bytes, at, length - at, position + at);
      if (bytesRead === 0) return undefined;
      at += bytesRead;
    }
  } catch (error) {
    if (systemErrorCode(error) === 'EIO') return undefined;
    throw error;
  }
  return bytes;
}

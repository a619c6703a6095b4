import { type LogPosition, logPosition } from '@engram/core';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { GARBAGE_CHUNK } from './checkpoint.ts';

/**
 * Encodes the positions of records that no version needs and that storage may still hold. Without this list, a crash
 * between a checkpoint and the drop of its garbage would leave those records on disk forever. Positions may come in any
 * order and in several chunks.
 */
export function encodeCheckpointGarbage(positions: readonly LogPosition[]): Uint8Array {
  const ascending = Float64Array.from(positions).sort();
  const writer = new ByteWriter(16 + ascending.length * 2);
  writer.byte(GARBAGE_CHUNK);
  writer.varint(ascending.length);
  let previous = 0;
  for (const position of ascending) {
    writer.varint(position - previous);
    previous = position;
  }
  return writer.take();
}

/** The positions, ascending. Throws CoderError for damage and for a chunk of another kind. */
export function decodeCheckpointGarbage(chunk: Uint8Array): LogPosition[] {
  const reader = new ByteReader(chunk, 'the garbage of a checkpoint');
  if (reader.byte() !== GARBAGE_CHUNK) throw reader.failure('another kind of chunk');
  const positions: LogPosition[] = [];
  let previous = 0;
  for (let left = reader.varint(); left > 0; left -= 1) {
    previous += reader.varint();
    positions.push(logPosition(previous));
  }
  reader.end();
  return positions;
}

/** Tells a chunk of garbage from a chunk of entries. */
export const isCheckpointGarbage = (chunk: Uint8Array): boolean => chunk[0] === GARBAGE_CHUNK;

import { type LogPosition, logPosition } from '@engram/core';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { GARBAGE_CHUNK } from './checkpoint.ts';

/**
 * Records that no version needs any more, but that storage may still hold: without this list a crash between a
 * checkpoint and the drop would leave them there for ever. Positions in any order, in one chunk or several.
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

/** Ascending. CoderError for damage, and for another kind of chunk. */
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

/** Whether a chunk is one of garbage rather than of entries. */
export const isCheckpointGarbage = (chunk: Uint8Array): boolean => chunk[0] === GARBAGE_CHUNK;

import { crc32 } from 'node:zlib';
import { EMPTY_BYTES, EngramError, type Clock, type LogPosition, type Revision } from '@engram/core';
import type { Pins, Scanner } from '@engram/scanner';
import { visitKept } from './kept-versions.ts';
import type { ReplicatedState } from './replicated-state.ts';

const SLICE_KEYS = 500;

/**
 * A checksum over every version that a compaction at the store's compact revision keeps, up to `upTo`: keys in byte
 * order, of each its versions newest first, of each its encoded KeyValue. It depends on history alone, not on how far
 * garbage has been worked off, so members (and a restarted node) agree on it.
 */
export async function hashKv(
  state: ReplicatedState,
  scanner: Scanner,
  pins: Pins,
  clock: Clock,
  upTo: Revision,
  signal: AbortSignal,
): Promise<number> {
  const { index, compactRevision } = state;
  using _pin = pins.hold(compactRevision);
  let hash = 0;
  for (let next: Uint8Array | undefined = EMPTY_BYTES; next !== undefined; ) {
    const positions: LogPosition[] = [];
    next = index.walk(next, SLICE_KEYS, (_key, head) =>
      visitKept(index, head, compactRevision, upTo, (slot) => positions.push(index.position(slot))),
    );
    for (const kv of await scanner.versions(positions, compactRevision, signal)) hash = crc32(kv, hash);
    await new Promise<void>((resolve) => clock.soon(resolve));
    signal.throwIfAborted();
    if (upTo < state.compactRevision) throw new EngramError('Compacted');
  }
  return hash;
}

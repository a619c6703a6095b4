import { crc32 } from 'node:zlib';
import { EMPTY_BYTES, EngramError, type LogPosition, nextTurn, type Revision } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import type { WalkParts } from './walk-parts.ts';

const SLICE_KEYS = 500;

/**
 * A checksum over what can be read at revision `upTo`: keys in byte order, of each the encoded KeyValue. It depends on
 * nothing else, neither on what was compacted nor on how far garbage has been worked off, so members, a restarted node,
 * and the same node before and after a compaction agree on it.
 */
export async function hashKv(
  { state, scanner, pins, clock, sliceMax }: WalkParts,
  upTo: Revision,
  signal: AbortSignal,
): Promise<number> {
  const { index } = state;
  using _pin = pins.hold(upTo);
  let hash = 0;
  for (let next: Uint8Array | undefined = EMPTY_BYTES; next !== undefined; ) {
    const positions: LogPosition[] = [];
    next = index.walk(next, Math.min(SLICE_KEYS, sliceMax), (_key, head) => {
      const slot = liveAt(index, head, upTo);
      if (slot >= 0) positions.push(index.position(slot));
    });
    for (const kv of await scanner.passing(positions, upTo, signal)) hash = crc32(kv, hash);
    await nextTurn(clock);
    signal.throwIfAborted();
    if (upTo < state.compactRevision) throw new EngramError('Compacted');
  }
  return hash;
}

/** Negative when the key does not live at `upTo`. */
function liveAt(index: KeyIndex, head: VersionSlot, upTo: Revision): VersionSlot {
  let slot = head;
  while (slot >= 0 && index.modRevision(slot) > upTo) slot = index.previous(slot);
  return slot >= 0 && index.isTombstone(slot) ? -1 : slot;
}

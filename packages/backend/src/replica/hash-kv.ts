import { crc32 } from 'node:zlib';
import { EMPTY_BYTES, EngramError, type LogPosition, nextTurn, type Revision } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import type { WalkParts } from '../apply/walk-parts.ts';

const SLICE_KEYS = 500;

/**
 * A checksum over the encoded KeyValues of the keys that live at revision `upTo`, in byte order of the keys. It
 * depends on nothing else, neither on compactions nor on how much garbage is freed already. So members, a restarted
 * node, and the same node before and after a compaction agree on it.
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

/** The version that lives at `upTo`; negative if there is none. */
function liveAt(index: KeyIndex, head: VersionSlot, upTo: Revision): VersionSlot {
  let slot = head;
  while (slot >= 0 && index.modRevision(slot) > upTo) slot = index.previous(slot);
  return slot >= 0 && index.isTombstone(slot) ? -1 : slot;
}

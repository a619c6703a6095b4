import { crc32 } from 'node:zlib';
import { EMPTY_BYTES, EngramError, type LogPosition, type Revision } from '@engram/core';
import type { VersionSlot } from '@engram/index';
import { byteSteps, type Job, settled, type Task } from '@engram/loop';
import type { WalkParts } from '../apply/walk-parts.ts';

const HASH: Task = { work: 'background', caller: 'hash', stage: 'hash' };
/** Versions that are read in one call, and held until they are hashed. */
const READ_KEYS = 500;

/**
 * A checksum over the encoded KeyValues of the keys that live at revision `upTo`, in byte order of the keys. It
 * depends on nothing else, neither on compactions nor on how much garbage is freed already. So members, a restarted
 * node, and the same node before and after a compaction agree on it.
 */
export async function hashKv(parts: WalkParts, upTo: Revision, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  return parts.loop.run(HASH, hashing(parts, upTo, signal), signal);
}

function* hashing({ state, scanner, pins, loop }: WalkParts, upTo: Revision, signal: AbortSignal): Job<number> {
  const { index } = state;
  using _pin = pins.hold(upTo);
  let hash = 0;
  for (let next: Uint8Array | undefined = EMPTY_BYTES; next !== undefined; ) {
    const positions: LogPosition[] = [];
    const add = (_key: Uint8Array, head: VersionSlot): number => {
      let seen = 1;
      let slot = head;
      for (; slot >= 0 && index.modRevision(slot) > upTo; slot = index.previous(slot)) seen += 1;
      if (slot >= 0 && !index.isTombstone(slot)) positions.push(index.position(slot));
      return seen;
    };
    next = index.walk(next, READ_KEYS, add, loop);
    for (const kv of yield* settled(scanner.passing(positions, upTo, signal))) {
      hash = crc32(kv, hash);
      if (loop.shouldYield(byteSteps(kv.length))) yield;
    }
    if (loop.shouldYield(0)) yield;
    if (upTo < state.compactRevision) throw new EngramError('Compacted');
  }
  return hash;
}

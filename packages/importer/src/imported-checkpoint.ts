import {
  type CheckpointHeader,
  type CheckpointLease,
  CheckpointWriter,
  encodeCheckpointGarbage,
  encodeCheckpointHeader,
} from '@engram/coder';
import { EMPTY_BYTES, type LeaseId, type LogPosition, NO_LEASE } from '@engram/core';
import { type KeyIndex, NO_VERSION, type VersionSlot } from '@engram/index';

/** Keys between two chunks at most, and positions in a chunk of garbage. */
const STEP_KEYS = 1_000;
const STEP_GARBAGE = 16_384;

export interface ImportedCheckpointParts {
  readonly header: CheckpointHeader;
  readonly index: KeyIndex;
  /** Positions of records that no version needs. The next start drops them. */
  readonly garbage: readonly LogPosition[];
  readonly leases: ReadonlyMap<LeaseId, CheckpointLease>;
  /** Counted up while the chunks are made. */
  readonly counts: { keysWithoutLease: number };
  readonly signal: AbortSignal;
}

/**
 * The chunks of the checkpoint of a store that was imported. A key whose lease is not there is attached to none; its
 * KeyValue keeps the id, as in etcd.
 */
export async function* importedCheckpoint(parts: ImportedCheckpointParts): AsyncGenerator<Uint8Array> {
  const { header, index, garbage, leases, counts, signal } = parts;
  yield encodeCheckpointHeader(header);
  const writer = new CheckpointWriter();
  const full: Uint8Array[] = [];
  const versions: VersionSlot[] = [];
  const visit = (page: Uint8Array, start: number, end: number, head: VersionSlot): undefined => {
    for (let slot = head; slot !== NO_VERSION; slot = index.previous(slot)) versions.push(slot);
    writer.begin(page, start, end, versions.length);
    for (let slot = versions.pop(); slot !== undefined; slot = versions.pop()) {
      let lease = index.lease(slot);
      if (slot === head && lease !== NO_LEASE && !leases.has(lease)) {
        lease = NO_LEASE;
        counts.keysWithoutLease += 1;
      }
      writer.version(
        index.modRevision(slot),
        index.createRevision(slot),
        index.version(slot),
        index.sub(slot),
        lease,
        index.isTombstone(slot),
        index.position(slot),
        index.bytes(slot),
      );
    }
    const chunk = writer.end();
    if (chunk !== undefined) full.push(chunk);
  };
  for (let next: Uint8Array | undefined = EMPTY_BYTES; next !== undefined; ) {
    signal.throwIfAborted();
    next = index.survey(next, STEP_KEYS, visit);
    yield* full.splice(0);
  }
  const last = writer.finish();
  if (last !== undefined) yield last;
  for (let at = 0; at < garbage.length; at += STEP_GARBAGE) {
    yield encodeCheckpointGarbage(garbage.slice(at, at + STEP_GARBAGE));
  }
}

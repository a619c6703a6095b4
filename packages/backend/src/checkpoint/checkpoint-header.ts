import { type CheckpointLease, encodeLongCheckpointHeader } from '@engram/coder';
import type { LogPosition } from '@engram/core';
import type { ListedLease } from '@engram/lease';
import type { PureJob, Turn } from '@engram/loop';
import type { ReplicatedState } from '../apply/replicated-state.ts';

/**
 * Encodes the state beside the index as it is when the job begins. Every record before `from` has taken effect then, and no
 * later one.
 */
export function* checkpointHeader(
  state: ReplicatedState,
  from: LogPosition,
  nowMs: number,
  turn: Turn,
): PureJob<Uint8Array> {
  const rest = {
    revision: state.revision,
    compactRevision: state.compactRevision,
    nextPosition: from,
    alarms: [...state.alarms],
    auth: state.auth.encode(),
  };
  const listed = yield* state.lessor.list(turn);
  const header = { ...rest, leaseCount: listed.length, leases: encodedLeases(listed, nowMs) };
  return yield* encodeLongCheckpointHeader(header, turn);
}

function* encodedLeases(listed: readonly ListedLease[], nowMs: number): Generator<CheckpointLease> {
  for (const { id, grantedTtlSeconds: ttlSeconds, dueMs, ended } of listed) {
    yield { id, ttlSeconds, remainingSeconds: ended ? 0 : Math.ceil(Math.max(0, dueMs - nowMs) / 1000) };
  }
}

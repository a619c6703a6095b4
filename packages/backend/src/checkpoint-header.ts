import { encodeCheckpointHeader } from '@engram/coder';
import type { LogPosition } from '@engram/core';
import type { ReplicatedState } from './replicated-state.ts';

/** Encodes the state beside the index as it is now. Every record before `from` has taken effect, and no later one. */
export function checkpointHeader(state: ReplicatedState, from: LogPosition, nowMs: number): Uint8Array {
  const leases = state.lessor.list().map((id) => ({
    id,
    ttlSeconds: state.lessor.get(id)!.ttlSeconds,
    remainingSeconds: Math.ceil((state.lessor.remainingMs(id, nowMs) ?? 0) / 1000),
  }));
  return encodeCheckpointHeader({
    revision: state.revision,
    compactRevision: state.compactRevision,
    nextPosition: from,
    leases,
    alarms: [...state.alarms],
  });
}

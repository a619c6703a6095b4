import { EMPTY_BYTES, keyText } from '@engram/core';
import { finish, unhurried } from '@engram/loop';
import type { ReplicatedState } from '../src/apply/replicated-state.ts';

/** The whole state that the log leads to, in one comparable value. */
export function picture(state: ReplicatedState): unknown {
  const keys: unknown[] = [];
  state.index.walk(EMPTY_BYTES, Number.POSITIVE_INFINITY, (key, head) => {
    const { index } = state;
    for (let slot = head; slot >= 0; slot = index.previous(slot)) {
      keys.push([
        keyText(key),
        index.modRevision(slot),
        index.sub(slot),
        index.createRevision(slot),
        index.version(slot),
        index.lease(slot),
        index.isTombstone(slot),
        index.position(slot),
      ]);
    }
  });
  const leases = finish(state.lessor.list(unhurried))
    .map(({ id }) => id)
    .map((id) => ({ id, ttl: state.lessor.get(id)?.ttlSeconds, keys: state.lessor.keys(id).map(keyText) }))
    .sort((left, right) => Number(left.id - right.id));
  return { keys, leases, revision: state.revision, compacted: state.compactRevision, alarms: [...state.alarms] };
}

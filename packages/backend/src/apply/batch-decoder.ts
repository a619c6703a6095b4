import type { KeyValueMeta } from '@engram/coder';
import {
  assert,
  EVENT_DELETE,
  EVENT_PUT,
  type KvEvent,
  type LogPosition,
  logPosition,
  NO_LEASE,
  type Revision,
  revision,
} from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import type { PureJob, Turn } from '@engram/loop';
import type { LogBatch } from '@engram/storage';
import { type ChangeRecord, type ReadRecord, readRecord } from './batch-reader.ts';
import type { CommittedWrite } from './committed-write.ts';

/**
 * Decodes records of the log into writes, at a start and on a follower. (On the leader the sequencer makes the
 * writes.) Inserts the versions into the index as it reads them. `batch` must begin and end with whole transactions.
 *
 * `replaying` means the replay after a checkpoint at a start. A version that the index already has is then skipped:
 * the checkpoint was taken while writes went on, so it may contain changes that the replay repeats. Otherwise such a
 * version is a broken invariant. A replay makes no events, because there are no watchers.
 *
 * Where it gives way, the index has some of the batch's versions. No reader sees them before the revision moves.
 *
 * @param read the records, if they are decoded already.
 */
export function* decodeBatch(
  batch: LogBatch,
  index: KeyIndex,
  replaying: boolean,
  turn: Turn,
  read?: readonly ReadRecord[],
): PureJob<CommittedWrite[]> {
  const writes: CommittedWrite[] = [];
  let events: KvEvent[] = [];
  let at = revision(0);
  const endGroup = (): void => {
    if (at > 0) writes.push({ mark: undefined, group: { revision: at, events }, origin: undefined });
    events = [];
    at = revision(0);
  };
  for (let record = 0; record < batch.records.length; record += 1) {
    if (turn.shouldYield()) yield;
    const { record: decoded, kv } = read?.[record] ?? readRecord(batch.records[record]!);
    if (decoded.kind === 'origin') {
      endGroup();
      const write = writes.pop();
      assert(write !== undefined, 'the origin of no write');
      writes.push({ ...write, origin: { memberId: decoded.memberId, sequence: decoded.sequence } });
      continue;
    }
    if (kv === undefined) {
      endGroup();
      writes.push({ mark: decoded, group: undefined, origin: undefined });
      continue;
    }
    const { mod, event } = insertVersion(decoded, kv, logPosition(batch.first + record), index, replaying);
    if (mod !== at) endGroup();
    at = mod;
    if (event !== undefined) events.push(event);
  }
  endGroup();
  return writes;
}

function insertVersion(
  record: ChangeRecord,
  kv: KeyValueMeta,
  position: LogPosition,
  index: KeyIndex,
  replaying: boolean,
): { readonly mod: Revision; readonly event: KvEvent | undefined } {
  const { key, createRevision, modRevision, version, lease } = kv;
  const head = index.head(key);
  if (head >= 0 && index.modRevision(head) >= modRevision) {
    assert(replaying, `the index has revision ${modRevision} of a key before the log brought it`);
    return { mod: modRevision, event: undefined };
  }
  const tombstone = record.kind === 'delete';
  const event = replaying ? undefined : eventOf(record, kv, position, index, head);
  index.append(key, {
    createRevision,
    modRevision,
    sub: record.sub,
    version,
    lease,
    tombstone,
    position,
    bytes: record.kv.length,
  });
  return { mod: modRevision, event };
}

/** `head` is the newest version of the key before this one. */
function eventOf(
  record: ChangeRecord,
  { key, createRevision, modRevision, version, lease }: KeyValueMeta,
  position: LogPosition,
  index: KeyIndex,
  head: VersionSlot,
): KvEvent {
  const tombstone = record.kind === 'delete';
  const old = head >= 0 && !index.isTombstone(head) ? head : -1;
  return {
    type: tombstone ? EVENT_DELETE : EVENT_PUT,
    key,
    modRevision,
    sub: record.sub,
    createRevision,
    version,
    lease: tombstone ? NO_LEASE : lease,
    kv: record.kv,
    position,
    prevPosition: old >= 0 ? index.position(old) : undefined,
    prevModRevision: old >= 0 ? index.modRevision(old) : revision(0),
    prevLease: old >= 0 ? index.lease(old) : NO_LEASE,
    prevKv: undefined,
  };
}

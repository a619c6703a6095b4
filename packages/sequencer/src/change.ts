import {
  type AnswerAccount,
  AnswerRoom,
  assert,
  type DeleteRangeOp,
  EVENT_DELETE,
  EVENT_PUT,
  isEngramError,
  type KvEvent,
  type LogPosition,
  NO_LEASE,
  nextLogPosition,
  type PutOp,
  type Revision,
  revision,
} from '@engram/core';
import { byteSteps, type PureJob, type Turn } from '@engram/loop';
import type { TxnChanges } from './plan.ts';
import type { ChangeEncoder, DecisionValues, KeyVersions, PendingVersions, DecidedLeases } from './ports.ts';

/** Keys of a range that are looked up at a time before they are deleted. */
const CHUNK = 128;

/** The changes of one write while it is decided. All have the same revision. */
export class Change implements TxnChanges {
  readonly revision: Revision;
  events: KvEvent[] = [];
  records: Uint8Array[] = [];
  recordBytes = 0;
  puts = 0;
  putBytes = 0;
  deletes = 0;
  /** Ranges, and looks at what a delete supersedes. */
  scans = 0;
  /** Looks at what a put supersedes. */
  lookups = 0;
  /** Ranges that etcd reads before the operations. */
  checks = 0;
  answersPrevious = false;
  /** The position of the next record. */
  next: LogPosition;
  readonly #answerBytesMax: number;
  readonly #account: AnswerAccount | undefined;
  #room: AnswerRoom | undefined;

  constructor(at: Revision, next: LogPosition, answerBytesMax: number, account: AnswerAccount | undefined) {
    this.revision = at;
    this.next = next;
    this.#answerBytesMax = answerBytesMax;
    this.#account = account;
  }

  get ranges(): number {
    return this.checks + this.lookups + this.scans;
  }

  get txns(): number {
    const executed = this.lookups + this.scans + this.puts + this.deletes;
    return (this.checks > 1 ? 1 : 0) + (executed > 1 ? 1 : 0);
  }

  /** The room that is left in the answer. */
  get room(): AnswerRoom {
    this.#room ??= new AnswerRoom(this.#answerBytesMax, this.#account);
    return this.#room;
  }

  /** What the versions in the answer take. */
  get answerBytes(): number {
    return this.#room?.takenBytes ?? 0;
  }

  /** Notes that the answer holds a superseded version of `bytes` bytes. */
  answerPrevious(bytes: number): void {
    this.room.take(bytes);
    this.answersPrevious = true;
  }

  deleteOf({ prevKv }: DeleteRangeOp): void {
    this.deletes += 1;
    if (prevKv) this.scans += 1;
  }

  /** The steps of the last change: see `Turn`. */
  get lastSteps(): number {
    return byteSteps(this.records.at(-1)!.length);
  }
}

/** Turns puts and deletes into versions of keys, events and log records, and undoes them. */
export class KeyChanges {
  readonly #versions: KeyVersions;
  readonly #leases: DecidedLeases;
  readonly #encoder: ChangeEncoder;
  readonly #pending: PendingVersions;

  constructor(versions: KeyVersions, leases: DecidedLeases, encoder: ChangeEncoder, pending: PendingVersions) {
    this.#versions = versions;
    this.#leases = leases;
    this.#encoder = encoder;
    this.#pending = pending;
  }

  /** Returns the log position of the superseded version, if there is one. */
  put(op: PutOp, change: Change, values: DecisionValues): LogPosition | undefined {
    const versions = this.#versions;
    const head = versions.head(op.key);
    const old = head >= 0 && !versions.isTombstone(head) ? head : -1;
    const prevPosition = old >= 0 ? versions.position(old) : undefined;
    const prevModRevision = old >= 0 ? versions.modRevision(old) : revision(0);
    const oldLease = old >= 0 ? versions.lease(old) : NO_LEASE;
    const createRevision = old >= 0 ? versions.createRevision(old) : change.revision;
    const version = old >= 0 ? versions.version(old) + 1 : 1;
    const lease = op.ignoreLease ? oldLease : op.lease;
    const value = op.ignoreValue ? values.value(assertDefined(prevPosition)) : op.value;
    if (op.prevKv && old >= 0) change.answerPrevious(versions.bytes(old));
    const sub = change.events.length;
    const { record, kv } = this.#encoder.put({
      sub,
      key: op.key,
      value,
      createRevision,
      modRevision: change.revision,
      version,
      lease,
    });
    const position = change.next;
    change.next = nextLogPosition(position);
    versions.append(op.key, {
      createRevision,
      modRevision: change.revision,
      sub,
      version,
      lease,
      tombstone: false,
      position,
      bytes: kv.length,
    });
    if (lease !== NO_LEASE && lease !== oldLease) this.#leases.attach(lease, op.key);
    change.puts += 1;
    if (op.prevKv || op.ignoreValue || op.ignoreLease) change.lookups += 1;
    change.putBytes += op.key.length + value.length;
    this.#add(change, record, {
      type: EVENT_PUT,
      key: op.key,
      modRevision: change.revision,
      sub,
      createRevision,
      version,
      lease,
      kv,
      position,
      prevPosition,
      prevModRevision,
      prevLease: oldLease,
      prevKv: undefined,
    });
    return prevPosition;
  }

  /** Returns the log positions of the superseded versions, one for each deleted key. */
  *deleteRange(op: DeleteRangeOp, change: Change, turn: Turn): PureJob<readonly LogPosition[]> {
    const versions = this.#versions;
    const deleted: LogPosition[] = [];
    change.deleteOf(op);
    let key: Uint8Array | undefined = op.range.key;
    while (key !== undefined) {
      const live: number[] = [];
      key = versions.collectSome({ key, end: op.range.end }, change.revision, CHUNK, turn, live);
      for (const version of live) {
        if (op.prevKv) change.answerPrevious(versions.bytes(version));
        deleted.push(versions.position(version));
        this.delete(versions.key(version), version, change);
        // The other versions of `live` stay valid meanwhile: a live head is no garbage.
        if (turn.shouldYield(change.lastSteps)) yield;
      }
      if (turn.shouldYield(0)) yield;
    }
    return deleted;
  }

  deletePoint(op: DeleteRangeOp, change: Change): readonly LogPosition[] {
    const versions = this.#versions;
    const { range, prevKv } = op;
    change.deleteOf(op);
    const head = versions.head(range.key);
    if (head < 0 || versions.isTombstone(head)) return [];
    if (prevKv) change.answerPrevious(versions.bytes(head));
    const deleted = [versions.position(head)];
    this.delete(range.key, head, change);
    return deleted;
  }

  /** `live` is the key's newest version. */
  delete(key: Uint8Array, live: number, change: Change): void {
    const versions = this.#versions;
    const prevPosition = versions.position(live);
    const prevModRevision = versions.modRevision(live);
    const prevLease = versions.lease(live);
    const sub = change.events.length;
    const { record, kv } = this.#encoder.delete(sub, key, change.revision);
    const position = change.next;
    change.next = nextLogPosition(position);
    versions.append(key, {
      createRevision: revision(0),
      modRevision: change.revision,
      sub,
      version: 0,
      lease: NO_LEASE,
      tombstone: true,
      position,
      bytes: kv.length,
    });
    this.#add(change, record, {
      type: EVENT_DELETE,
      key,
      modRevision: change.revision,
      sub,
      createRevision: revision(0),
      version: 0,
      lease: NO_LEASE,
      kv,
      position,
      prevPosition,
      prevModRevision,
      prevLease,
      prevKv: undefined,
    });
  }

  #add(change: Change, record: Uint8Array, event: KvEvent): void {
    change.recordBytes += record.length;
    // Most writes change one key. An array that is made with one element takes 24 bytes, one that it is pushed to 152.
    if (change.records.length === 0) change.records = [record];
    else change.records.push(record);
    if (change.events.length === 0) change.events = [event];
    else change.events.push(event);
    this.#pending.added(event);
  }

  /**
   * Removes versions that will never be durable, newest first. They must be the newest versions of all. Goes on if the
   * caller gives the decision up meanwhile: it is being undone already.
   */
  *undo(events: readonly KvEvent[], turn: Turn): PureJob<void> {
    const versions = this.#versions;
    for (let at = events.length - 1; at >= 0; at -= 1) {
      const { key, position, type, lease, prevLease } = events[at]!;
      const head = versions.head(key);
      assert(head >= 0 && versions.position(head) === position, 'undone out of order');
      versions.undo(head);
      if (type === EVENT_PUT && lease !== NO_LEASE && lease !== prevLease) this.#leases.detach(lease, key);
      if (!turn.shouldYield()) continue;
      try {
        yield;
      } catch (error) {
        if (!isEngramError(error)) throw error;
      }
    }
  }
}

function assertDefined(position: LogPosition | undefined): LogPosition {
  assert(position !== undefined, 'a put that keeps the value passed the check without a live version');
  return position;
}

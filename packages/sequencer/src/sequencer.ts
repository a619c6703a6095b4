import {
  assert,
  EngramError,
  EVENT_DELETE,
  EVENT_PUT,
  isPoint,
  type KvEvent,
  type LeaseId,
  type LogPosition,
  logPosition,
  NO_LEASE,
  nextLogPosition,
  nextRevision,
  type Op,
  type DeleteRangeOp,
  type PutOp,
  type Revision,
  revision,
  type Txn,
  unreachable,
} from '@engram/core';
import { choosePath, type Path } from './compares.ts';
import { valueNeeds } from './value-needs.ts';
import type { PlannedOp, PlannedTxn, Sequenced } from './plan.ts';
import type { ChangeEncoder, KeyVersions, KnownValues, SequencedLeases, RangePlanner } from './ports.ts';

export interface SequencerOptions<Plan> {
  readonly versions: KeyVersions;
  readonly leases: SequencedLeases;
  readonly encoder: ChangeEncoder;
  readonly ranges: RangePlanner<Plan>;
  /** The last revision that was dealt; an empty store begins at 1. */
  readonly revision: Revision;
  /** The position that the next record takes. */
  readonly next: LogPosition;
}

/**
 * Decides writes in memory, one after the other, and deals their revisions and log positions. A decided write is in
 * the index at once, above the revision that readers may see, so the next one is decided on top of it without waiting
 * for storage; versions are immutable, so what an answer needs in bytes is only noted here.
 *
 * Invariants: revisions and positions are consecutive in the order of the calls; a refused transaction leaves no
 * trace, because everything that can refuse it is checked before its first change. Whatever is thrown after the first
 * change leaves the index and the positions apart: `broken` says so, and the node must end.
 */
export class Sequencer<Plan> {
  readonly #versions: KeyVersions;
  readonly #leases: SequencedLeases;
  readonly #encoder: ChangeEncoder;
  readonly #ranges: RangePlanner<Plan>;
  #dealt: Revision;
  #next: LogPosition;
  #changing = false;

  constructor(options: SequencerOptions<Plan>) {
    this.#versions = options.versions;
    this.#leases = options.leases;
    this.#encoder = options.encoder;
    this.#ranges = options.ranges;
    this.#dealt = options.revision;
    this.#next = options.next;
  }

  /** The newest revision that any write was given, durable or not. */
  get dealt(): Revision {
    return this.#dealt;
  }

  /** A call has thrown after its first change: the index holds versions that no record of the log will explain. */
  get broken(): boolean {
    return this.#changing;
  }

  /** The position of the next record. */
  get next(): LogPosition {
    return this.#next;
  }

  /** Where the values lie that must be at hand before `txn` can be sequenced: see `valueNeeds`. */
  needs(txn: Txn): readonly LogPosition[] {
    return valueNeeds(txn, this.#versions, nextRevision(this.#dealt));
  }

  /** Refuses with FutureRev, Compacted, LeaseNotFound or KeyNotFound, and then has changed nothing. */
  sequence(txn: Txn, compactRevision: Revision, values: KnownValues): Sequenced<Plan> {
    const path = choosePath(txn, this.#versions, values, nextRevision(this.#dealt));
    this.#check(txn, path, compactRevision);
    const change = new Change(nextRevision(this.#dealt));
    this.#changing = true;
    const planned = this.#execute(txn, path, change, values);
    this.#changing = false;
    if (change.events.length > 0) this.#dealt = change.revision;
    return { planned, events: change.events, records: change.records };
  }

  /** Deletes, in one revision, those of the keys that live and are attached to the lease: its end. */
  deleteKeys(
    keys: readonly Uint8Array[],
    attachedTo: LeaseId,
  ): {
    readonly events: readonly KvEvent[];
    readonly records: readonly Uint8Array[];
  } {
    const change = new Change(nextRevision(this.#dealt));
    this.#changing = true;
    for (const key of keys) {
      const head = this.#versions.head(key);
      if (head < 0 || this.#versions.isTombstone(head) || this.#versions.lease(head) !== attachedTo) continue;
      this.#delete(key, head, change);
    }
    this.#changing = false;
    if (change.events.length > 0) this.#dealt = change.revision;
    return change;
  }

  /** A place in the log for a record that takes no revision. */
  dealPosition(): LogPosition {
    const position = this.#next;
    this.#next = nextLogPosition(position);
    return position;
  }

  #check(txn: Txn, path: Path, compactRevision: Revision): void {
    let nested = 0;
    for (const op of path.succeeded ? txn.success : txn.failure) {
      switch (op.kind) {
        case 'range':
          if (op.revision > this.#dealt) throw new EngramError('FutureRev');
          if (op.revision !== 0 && op.revision < compactRevision) throw new EngramError('Compacted');
          break;
        case 'put':
          this.#checkPut(op);
          break;
        case 'txn':
          this.#check(op.txn, path.nested[nested]!, compactRevision);
          nested += 1;
          break;
        case 'delete-range':
          break;
        default:
          unreachable(op);
      }
    }
  }

  #checkPut(op: PutOp): void {
    if (op.lease !== NO_LEASE && !this.#leases.has(op.lease)) throw new EngramError('LeaseNotFound');
    if (op.ignoreValue || op.ignoreLease) {
      const head = this.#versions.head(op.key);
      if (head < 0 || this.#versions.isTombstone(head)) throw new EngramError('KeyNotFound');
    }
  }

  #execute(txn: Txn, path: Path, change: Change, values: KnownValues): PlannedTxn<Plan> {
    const responses: PlannedOp<Plan>[] = [];
    let nested = 0;
    for (const op of path.succeeded ? txn.success : txn.failure) {
      if (op.kind === 'txn') {
        responses.push(this.#execute(op.txn, path.nested[nested]!, change, values));
        nested += 1;
      } else {
        responses.push(this.#executeOp(op, change, values));
      }
    }
    return { kind: 'txn', revision: this.#visible(change), succeeded: path.succeeded, responses };
  }

  #executeOp(op: Exclude<Op, { kind: 'txn' }>, change: Change, values: KnownValues): PlannedOp<Plan> {
    switch (op.kind) {
      case 'range': {
        const at = op.revision > 0 ? revision(op.revision) : change.revision;
        const pinned = at < change.revision ? at : this.#dealt;
        return { kind: 'range', revision: this.#visible(change), plan: this.#ranges.plan(op, at, pinned) };
      }
      case 'put': {
        const prev = this.#put(op, change, values);
        return { kind: 'put', revision: change.revision, prev: op.prevKv ? prev : undefined };
      }
      case 'delete-range': {
        const deleted = this.#deleteRange(op, change);
        return {
          kind: 'delete-range',
          revision: this.#visible(change),
          deleted: deleted.length,
          prev: op.prevKv ? deleted : [],
        };
      }
      default:
        return unreachable(op);
    }
  }

  /** What a reader inside the transaction sees: its own revision once it has changed something. */
  #visible(change: Change): Revision {
    return change.events.length > 0 ? change.revision : this.#dealt;
  }

  #put(op: PutOp, change: Change, values: KnownValues): LogPosition | undefined {
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
    const { record, kv } = this.#encoder.put({
      sub: change.events.length,
      key: op.key,
      value,
      createRevision,
      modRevision: change.revision,
      version,
      lease,
    });
    const position = this.dealPosition();
    versions.append(op.key, {
      createRevision,
      modRevision: change.revision,
      sub: change.events.length,
      version,
      lease,
      tombstone: false,
      position,
      bytes: kv.length,
    });
    if (lease !== NO_LEASE && lease !== oldLease) this.#leases.attach(lease, op.key);
    change.records.push(record);
    change.events.push({
      type: EVENT_PUT,
      key: op.key,
      modRevision: change.revision,
      sub: change.events.length,
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

  #deleteRange(op: DeleteRangeOp, change: Change): LogPosition[] {
    const versions = this.#versions;
    const deleted: LogPosition[] = [];
    if (isPoint(op.range)) {
      const head = versions.head(op.range.key);
      if (head < 0 || versions.isTombstone(head)) return deleted;
      deleted.push(versions.position(head));
      this.#delete(op.range.key, head, change);
      return deleted;
    }
    for (const version of versions.collect(op.range, change.revision, Number.POSITIVE_INFINITY)) {
      deleted.push(versions.position(version));
      this.#delete(versions.key(version), version, change);
    }
    return deleted;
  }

  #delete(key: Uint8Array, live: number, change: Change): void {
    const versions = this.#versions;
    const prevPosition = versions.position(live);
    const prevModRevision = versions.modRevision(live);
    const prevLease = versions.lease(live);
    const sub = change.events.length;
    const { record, kv } = this.#encoder.delete(sub, key, change.revision);
    const position = this.dealPosition();
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
    change.records.push(record);
    change.events.push({
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
}

/** The changes of one transaction while it is executed; all have the same revision. */
class Change {
  readonly revision: Revision;
  readonly events: KvEvent[] = [];
  readonly records: Uint8Array[] = [];

  constructor(at: Revision) {
    this.revision = at;
  }
}

function assertDefined(position: LogPosition | undefined): LogPosition {
  assert(position !== undefined, 'a put that keeps the value passed the check without a live version');
  return logPosition(position);
}

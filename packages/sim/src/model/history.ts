import { decodeKeyValue, decodeRecord, type LogRecord } from '@engram/coder';
import { compareBytes, keyBytes, type KeyRange, keyText, rangeContains } from '@engram/core';

/** One version of a key, as clients get it. */
export interface ModelKv {
  readonly key: string;
  readonly value: string;
  readonly create: number;
  readonly mod: number;
  readonly version: number;
  readonly lease: bigint;
}

/** One change of one key. A deletion has neither value nor lease, and its `create` and `version` are 0. */
export interface ModelEvent extends ModelKv {
  readonly sub: number;
  readonly deleted: boolean;
  readonly position: number;
  readonly keyBytes: Uint8Array;
  /** The encoded mvccpb.KeyValue. */
  readonly kv: Uint8Array;
}

/** All changes of one key, oldest first. Compaction does not remove them. */
export interface KeyLine {
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly events: ModelEvent[];
}

export type Mark = Exclude<LogRecord, { readonly kind: 'put' | 'delete' }>;

/** The log records of one write: a mark, the changes of one revision, or the end of a lease (a mark and its changes). */
export interface LoggedWrite {
  /** The position of the first record. */
  readonly position: number;
  /** The position after the last record. */
  readonly next: number;
  /** The store's revision after the write. */
  readonly revision: number;
  readonly mark: Mark | undefined;
  readonly events: readonly ModelEvent[];
}

/** The life of a lease, from the grant's position to the position after the revoke. */
export interface LeaseSpan {
  readonly id: bigint;
  readonly ttlSeconds: number;
  readonly granted: number;
  /** Undefined while the lease exists. */
  revoked: number | undefined;
}

export interface ModelAlarm {
  readonly memberId: bigint;
  readonly alarm: number;
}

/** The state after everything before a log position has taken effect. */
export interface StateAt {
  readonly position: number;
  readonly revision: number;
  /** -1 before the first compaction. */
  readonly compactRevision: number;
}

export class ModelError extends Error {
  override readonly name = 'ModelError';
}

/**
 * The store as its log defines it, in the simplest way: it lists every change of every key and searches all of them for
 * every answer. It never forgets, so it can give the state at any position.
 */
export class StoreHistory {
  readonly lines: KeyLine[] = [];
  readonly leases: LeaseSpan[] = [];
  readonly writes: LoggedWrite[] = [];
  readonly #byKey = new Map<string, KeyLine>();
  readonly #compactions: { readonly next: number; readonly revision: number }[] = [];
  readonly #alarms: { readonly next: number; readonly alarm: ModelAlarm; readonly active: boolean }[] = [];
  /** The write of revision r is at index r - 2: an empty store is at revision 1. */
  readonly #byRevision: LoggedWrite[] = [];
  #next = 1;
  #revision = 1;

  /** The position after the last record. */
  get next(): number {
    return this.#next;
  }

  get revision(): number {
    return this.#revision;
  }

  get compactRevision(): number {
    return this.#compactions.at(-1)?.revision ?? -1;
  }

  /** A copy that then changes independently, like the logs on two copies of one disk. */
  copy(): StoreHistory {
    const copy = new StoreHistory();
    for (const { key, bytes, events } of this.lines) {
      const line = { key, bytes, events: [...events] };
      copy.lines.push(line);
      copy.#byKey.set(key, line);
    }
    copy.leases.push(...this.leases.map((span) => ({ ...span })));
    copy.writes.push(...this.writes);
    copy.#compactions.push(...this.#compactions);
    copy.#alarms.push(...this.#alarms);
    copy.#byRevision.push(...this.#byRevision);
    copy.#next = this.#next;
    copy.#revision = this.#revision;
    return copy;
  }

  /**
   * Adds records that became durable, whole writes only. Throws ModelError if they break a rule of the log. Returns the
   * writes.
   */
  append(first: number, records: readonly Uint8Array[]): readonly LoggedWrite[] {
    check(first === this.#next, `records at ${first}, and the log ends at ${this.#next}`);
    const writes: LoggedWrite[] = [];
    for (let at = 0; at < records.length; ) {
      const write = this.#readWrite(records, at);
      at += write.next - write.position;
      writes.push(write);
      this.#take(write);
    }
    return writes;
  }

  #readWrite(records: readonly Uint8Array[], from: number): LoggedWrite {
    const position = this.#next;
    let at = from;
    let record = decodeRecord(records[at]!);
    let mark: Mark | undefined;
    let most = Number.POSITIVE_INFINITY;
    if (record.kind !== 'put' && record.kind !== 'delete') {
      mark = record;
      at += 1;
      // A revoke deletes the keys of its lease. Its revision has no other change.
      most = record.kind === 'lease-revoke' ? this.leaseKeys(record.id, this.#next).length : 0;
    }
    const events: ModelEvent[] = [];
    for (; at < records.length && events.length < most; at += 1) {
      record = decodeRecord(records[at]!);
      if (record.kind !== 'put' && record.kind !== 'delete') break;
      const event = eventOf(record, position + at - from);
      if (events.length > 0 && event.mod !== events[0]!.mod) break;
      events.push(event);
    }
    // A record that names the member that passed the write on belongs to the write.
    if (at < records.length && decodeRecord(records[at]!).kind === 'origin') at += 1;
    const revision = events[0]?.mod ?? this.#revision;
    return { position, next: position + at - from, revision, mark, events };
  }

  #take(write: LoggedWrite): void {
    const { mark, events, next } = write;
    if (mark?.kind === 'lease-revoke') {
      const span = this.leaseAt(mark.id, write.position);
      check(span !== undefined, `a revoke of lease ${mark.id}, which is not there`);
      const keys = this.leaseKeys(mark.id, write.position);
      check(
        events.length === keys.length && events.every(({ key, deleted }, at) => deleted && key === keys[at]),
        `the revoke of lease ${mark.id} deletes ${events.map(({ key }) => show(key))}, and its keys are ${keys.map(show)}`,
      );
      span.revoked = next;
    }
    if (events.length > 0) {
      check(write.revision === this.#revision + 1, `revision ${write.revision} comes after ${this.#revision}`);
      for (const [sub, event] of events.entries()) this.#takeEvent(event, sub, write.position);
      this.#revision = write.revision;
      this.#byRevision.push(write);
    }
    if (mark?.kind === 'lease-grant') {
      check(this.leaseAt(mark.id, write.position) === undefined, `lease ${mark.id} is granted twice`);
      this.leases.push({ id: mark.id, ttlSeconds: mark.ttlSeconds, granted: next, revoked: undefined });
    }
    if (mark?.kind === 'compact') {
      check(mark.revision > this.compactRevision, `compacted at ${mark.revision} after ${this.compactRevision}`);
      check(mark.revision <= this.#revision, `compacted at ${mark.revision}, above ${this.#revision}`);
      this.#compactions.push({ next, revision: mark.revision });
    }
    if (mark?.kind === 'alarm') {
      const { memberId, alarm, active } = mark;
      this.#alarms.push({ next, alarm: { memberId, alarm }, active });
    }
    this.#next = next;
    this.writes.push(write);
  }

  #takeEvent(event: ModelEvent, sub: number, position: number): void {
    const { key, mod, deleted, lease } = event;
    const before = this.live(key, mod - 1);
    check(event.sub === sub, `${show(key)} is change ${event.sub} of revision ${mod}, and comes as ${sub}`);
    check(this.#byKey.get(key)?.events.at(-1)?.mod !== mod, `${show(key)} changes twice in revision ${mod}`);
    if (deleted) {
      check(before !== undefined, `${show(key)} is deleted at ${mod}, and is not there`);
    } else {
      const wanted = before === undefined ? `${mod}/1` : `${before.create}/${before.version + 1}`;
      check(`${event.create}/${event.version}` === wanted, `${show(key)} at ${mod} is not ${wanted}`);
      check(lease === 0n || this.leaseAt(lease, position) !== undefined, `${show(key)} hangs on no lease at ${mod}`);
    }
    this.#line(key).events.push(event);
  }

  #line(key: string): KeyLine {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const line: KeyLine = { key, bytes: keyBytes(key), events: [] };
    this.#byKey.set(key, line);
    const at = this.lines.findIndex(({ bytes }) => compareBytes(bytes, line.bytes) > 0);
    this.lines.splice(at < 0 ? this.lines.length : at, 0, line);
    return line;
  }

  /** The state when everything before the position has taken effect, and nothing else. */
  stateAt(position: number): StateAt {
    let compactRevision = -1;
    for (const { next, revision } of this.#compactions) if (next <= position) compactRevision = revision;
    return { position, revision: this.revisionAt(position), compactRevision };
  }

  revisionAt(position: number): number {
    // Searched from the end: callers mostly ask for recent positions.
    for (let at = this.#byRevision.length - 1; at >= 0; at -= 1) {
      const write = this.#byRevision[at]!;
      if (write.next <= position) return write.revision;
    }
    return 1;
  }

  /** The write that made a revision. Undefined for revision 1 and for revisions that do not exist yet. */
  writeOf(revision: number): LoggedWrite | undefined {
    return this.#byRevision[revision - 2];
  }

  live(key: string, revision: number): ModelEvent | undefined {
    return liveOf(this.#byKey.get(key), revision);
  }

  /** In key order. */
  liveIn(range: KeyRange, revision: number): ModelEvent[] {
    const found: ModelEvent[] = [];
    if (range.end.length === 0) {
      const live = this.live(keyText(range.key), revision);
      if (live !== undefined) found.push(live);
      return found;
    }
    for (const line of this.lines) {
      if (!rangeContains(range, line.bytes)) continue;
      const live = liveOf(line, revision);
      if (live !== undefined) found.push(live);
    }
    return found;
  }

  leaseAt(id: bigint, position: number): LeaseSpan | undefined {
    for (let at = this.leases.length - 1; at >= 0; at -= 1) {
      const span = this.leases[at]!;
      if (span.id !== id || span.granted > position) continue;
      return span.revoked === undefined || span.revoked > position ? span : undefined;
    }
    return undefined;
  }

  leasesAt(position: number): readonly LeaseSpan[] {
    return this.leases.filter(
      ({ granted, revoked }) => granted <= position && (revoked === undefined || revoked > position),
    );
  }

  /** The keys that are attached to a lease, in byte order. */
  leaseKeys(id: bigint, position: number): readonly string[] {
    const revision = this.revisionAt(position);
    const keys: string[] = [];
    for (const line of this.lines) if (liveOf(line, revision)?.lease === id) keys.push(line.key);
    return keys;
  }

  alarmsAt(position: number): readonly ModelAlarm[] {
    const raised = new Map<string, ModelAlarm>();
    for (const { next, alarm, active } of this.#alarms) {
      if (next > position) continue;
      const name = `${alarm.memberId}/${alarm.alarm}`;
      if (active) raised.set(name, alarm);
      else raised.delete(name);
    }
    return [...raised.values()];
  }

  /** The writes of the revisions from `from` to `to`, both included, in order. */
  changes(from: number, to: number): readonly LoggedWrite[] {
    return this.#byRevision.slice(Math.max(0, from - 2), Math.max(0, to - 1));
  }

  /**
   * The versions up to revision `upTo` that a compaction at `compacted` keeps, in log order: all above `compacted`, and
   * of each key the newest that is not above it, unless that is a tombstone older than `compacted` (etcd
   * server/storage/mvcc/key_index.go).
   */
  kept(compacted: number, upTo: number): readonly ModelEvent[] {
    const kept: ModelEvent[] = [];
    for (const { events } of this.lines) {
      for (let at = events.length - 1; at >= 0; at -= 1) {
        const event = events[at]!;
        if (event.mod > upTo) continue;
        if (event.mod > compacted || !event.deleted || event.mod === compacted) kept.push(event);
        if (event.mod <= compacted) break;
      }
    }
    return kept.sort((left, right) => left.position - right.position);
  }
}

function liveOf(line: KeyLine | undefined, revision: number): ModelEvent | undefined {
  if (line === undefined) return undefined;
  for (let at = line.events.length - 1; at >= 0; at -= 1) {
    const event = line.events[at]!;
    if (event.mod <= revision) return event.deleted ? undefined : event;
  }
  return undefined;
}

function eventOf(record: Extract<LogRecord, { readonly kind: 'put' | 'delete' }>, position: number): ModelEvent {
  const { key, value, createRevision, modRevision, version, lease } = decodeKeyValue(record.kv);
  return {
    key: keyText(key),
    value: keyText(value),
    create: createRevision,
    mod: modRevision,
    version,
    lease,
    sub: record.sub,
    deleted: record.kind === 'delete',
    position,
    keyBytes: key,
    kv: record.kv,
  };
}

function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new ModelError(message);
}

/** A key as text for messages. */
export const show = (key: string): string => JSON.stringify(key);

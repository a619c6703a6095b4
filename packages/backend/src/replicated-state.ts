import { decodeKeyValue, decodeRecord, type LogRecord } from '@engram/coder';
import {
  assert,
  type Clock,
  EMPTY_BYTES,
  type LogPosition,
  NO_REVISION,
  type Revision,
  revision,
  unreachable,
} from '@engram/core';
import type { KeyIndex } from '@engram/index';
import type { Lessor } from '@engram/lease';
import type { Alarm } from './store.ts';

const ATTACH_SLICE_KEYS = 10_000;

/** What the log leads to, without the bytes of versions: everything here can be rebuilt by replaying it. */
export class ReplicatedState {
  readonly index: KeyIndex;
  readonly lessor: Lessor;
  /** Alarms by `memberId/alarm`. */
  readonly alarms = new Map<string, Alarm>();
  revision: Revision = revision(1);
  compactRevision: Revision = NO_REVISION;
  readonly #clock: Clock;

  constructor(index: KeyIndex, lessor: Lessor, clock: Clock) {
    this.index = index;
    this.lessor = lessor;
    this.#clock = clock;
  }

  /**
   * Replays one record. Records that a checkpoint already contains may come again, since it is taken while writes go
   * on: a version that is there is passed over, and so is a grant, a revoke or a mark.
   */
  apply(bytes: Uint8Array, position: LogPosition): void {
    const record = decodeRecord(bytes);
    switch (record.kind) {
      case 'put':
      case 'delete':
        this.#applyChange(record, position);
        return;
      case 'lease-grant':
        if (!this.lessor.has(record.id)) this.lessor.grant(record.id, record.ttlSeconds, this.#clock.nowMs());
        return;
      case 'lease-revoke':
        if (this.lessor.has(record.id)) this.lessor.revoke(record.id);
        return;
      case 'lease-checkpoint':
        if (this.lessor.has(record.id)) this.lessor.checkpoint(record.id, record.remainingSeconds);
        return;
      case 'compact':
        if (record.revision > this.compactRevision) this.compactRevision = record.revision;
        return;
      case 'alarm':
        this.applyAlarm({ memberId: record.memberId, alarm: record.alarm }, record.active);
        return;
      default:
        unreachable(record);
    }
  }

  #applyChange(record: Extract<LogRecord, { kind: 'put' | 'delete' }>, position: LogPosition): void {
    const kv = decodeKeyValue(record.kv);
    const head = this.index.head(kv.key);
    if (head >= 0 && this.index.modRevision(head) >= kv.modRevision) {
      this.#advance(kv.modRevision);
      return;
    }
    this.index.append(kv.key, {
      createRevision: kv.createRevision,
      modRevision: kv.modRevision,
      sub: record.sub,
      version: kv.version,
      lease: kv.lease,
      tombstone: record.kind === 'delete',
      position,
      bytes: record.kv.length,
    });
    this.#advance(kv.modRevision);
  }

  #advance(to: Revision): void {
    if (to > this.revision) this.revision = to;
  }

  applyAlarm(alarm: Alarm, active: boolean): void {
    const name = alarmName(alarm);
    if (active) this.alarms.set(name, alarm);
    else this.alarms.delete(name);
  }

  /**
   * Hangs the keys on their leases, once at the end of a replay: a checkpoint may contain a key whose lease comes only
   * in the log behind it.
   */
  attachKeys(): void {
    for (let next: Uint8Array | undefined = EMPTY_BYTES; next !== undefined; ) {
      next = this.index.walk(next, ATTACH_SLICE_KEYS, (key, head) => {
        if (this.index.isTombstone(head) || !this.index.hasLease(head)) return;
        const id = this.index.lease(head);
        assert(this.lessor.has(id), `a key hangs on lease ${id}, which the log does not know`);
        this.lessor.attach(id, key);
      });
    }
  }
}

export const alarmName = (alarm: Alarm): string => `${alarm.memberId}/${alarm.alarm}`;

/** AlarmType of etcdserverpb. */
export const ALARM_NOSPACE = 1;
export const ALARM_CORRUPT = 2;

export function hasAlarm(state: ReplicatedState, kind: number): boolean {
  assert(kind === ALARM_NOSPACE || kind === ALARM_CORRUPT, 'an unknown alarm was asked for');
  for (const alarm of state.alarms.values()) if (alarm.alarm === kind) return true;
  return false;
}

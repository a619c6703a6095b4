import type { CheckpointHeader } from '@engram/coder';
import {
  assert,
  type Clock,
  EMPTY_BYTES,
  type KvEvent,
  type LeaseId,
  NO_LEASE,
  FIRST_REVISION,
  NO_REVISION,
  type Revision,
  unreachable,
} from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import type { Lessor } from '@engram/lease';
import type { PureJob, Turn } from '@engram/loop';
import { AuthStore } from './auth-store.ts';
import type { CommittedWrite, Mark } from './committed-write.ts';
import type { Alarm } from '../store.ts';

/**
 * The state that the log leads to, without the bytes of versions. A replay of the log rebuilds all of it. It changes
 * only through `Applier`, at a start, on the leader and on a follower alike, so no answer shows what is not durable. The
 * one exception is the index: above `revision` it holds the versions of writes that are under way.
 */
export class ReplicatedState {
  readonly index: KeyIndex;
  readonly lessor: Lessor;
  readonly auth = new AuthStore();
  readonly #alarms = new Map<string, Alarm>();
  /** By kind, how many of `#alarms` there are. */
  readonly #raised = new Map<number, number>();
  #revision: Revision;
  #compactRevision: Revision;
  #attached = false;
  readonly #clock: Clock;

  /**
   * @param first the revision of the empty store. If it is not etcd's, an earlier store may have used the revisions
   *   below it. These count as compacted, so that no client takes the history for complete.
   */
  constructor(index: KeyIndex, lessor: Lessor, clock: Clock, first: Revision = FIRST_REVISION) {
    this.#revision = first;
    this.#compactRevision = first === FIRST_REVISION ? NO_REVISION : first;
    this.index = index;
    this.lessor = lessor;
    this.#clock = clock;
  }

  /** The newest revision that has taken effect. */
  get revision(): Revision {
    return this.#revision;
  }

  /** -1 before the first compaction. If the empty store's revision is not etcd's, that revision. */
  get compactRevision(): Revision {
    return this.#compactRevision;
  }

  /** Alarms in the order in which they were raised. */
  get alarms(): Iterable<Alarm> {
    return this.#alarms.values();
  }

  /** Whether changes move keys between leases. False in a replay, until `attachKeys`. */
  get attached(): boolean {
    return this.#attached;
  }

  get alarmCount(): number {
    return this.#alarms.size;
  }

  hasAlarm(alarm: Alarm): boolean {
    return this.#alarms.has(alarmName(alarm));
  }

  /** Whether any member has raised an alarm of this kind. */
  isRaised(kind: number): boolean {
    assert(kind === ALARM_NOSPACE || kind === ALARM_CORRUPT, 'an unknown alarm was asked for');
    return (this.#raised.get(kind) ?? 0) > 0;
  }

  /**
   * Lets a durable write take effect, but for the keys of leases (`moveKey`). A mark that a checkpoint already contains may come
   * again in the replay after it. It then changes nothing.
   */
  apply({ mark, group }: CommittedWrite): void {
    if (mark !== undefined) this.#applyMark(mark);
    if (group !== undefined && group.revision > this.#revision) this.#revision = group.revision;
  }

  /** A change moves its key from one lease to another. `ending` is the lease that the same write ends. */
  moveKey({ key, lease, prevLease }: KvEvent, ending: LeaseId): void {
    if (lease === prevLease) return;
    if (prevLease !== NO_LEASE && prevLease !== ending) this.lessor.detach(prevLease, key);
    if (lease !== NO_LEASE) this.lessor.attach(lease, key);
  }

  /** Takes the state from a checkpoint's header: everything but the index. */
  adopt(header: CheckpointHeader): void {
    this.#revision = header.revision;
    this.#compactRevision = header.compactRevision;
    for (const lease of header.leases) this.lessor.grant(lease.id, lease.ttlSeconds, this.#clock.nowMs());
    for (const alarm of header.alarms) this.#setAlarm(alarm, true);
    this.auth.adopt(header.auth);
  }

  #applyMark(mark: Mark): void {
    switch (mark.kind) {
      case 'lease-grant':
        if (!this.lessor.has(mark.id)) this.lessor.grant(mark.id, mark.ttlSeconds, this.#clock.nowMs());
        return;
      case 'lease-revoke':
        if (this.lessor.has(mark.id)) this.lessor.revoke(mark.id);
        return;
      case 'lease-checkpoint':
        if (this.lessor.has(mark.id)) this.lessor.checkpoint(mark.id, mark.remainingSeconds);
        return;
      case 'compact':
        if (mark.revision > this.#compactRevision) this.#compactRevision = mark.revision;
        return;
      case 'alarm':
        this.#setAlarm({ memberId: mark.memberId, alarm: mark.alarm }, mark.active);
        return;
      case 'auth':
        this.auth.apply(mark.change);
        return;
      case 'login':
        this.auth.loggedIn(mark.digest, mark.user);
        return;
      default:
        unreachable(mark);
    }
  }

  #setAlarm(alarm: Alarm, active: boolean): void {
    const name = alarmName(alarm);
    if (active === this.#alarms.has(name)) return;
    if (active) this.#alarms.set(name, alarm);
    else this.#alarms.delete(name);
    this.#raised.set(alarm.alarm, (this.#raised.get(alarm.alarm) ?? 0) + (active ? 1 : -1));
  }

  /**
   * Attaches the keys to their leases, once at the end of a replay, because a checkpoint may contain a key whose
   * lease comes only in the log after it. From then on `moveKey` does so for each change.
   */
  *attachKeys(turn: Turn): PureJob<void> {
    assert(!this.#attached, 'keys are attached once');
    this.#attached = true;
    for (let next: Uint8Array | undefined = EMPTY_BYTES; next !== undefined; ) {
      const attach = (key: Uint8Array, head: VersionSlot): undefined => {
        if (this.index.isTombstone(head) || !this.index.hasLease(head)) return;
        const id = this.index.lease(head);
        assert(this.lessor.has(id), `a key is attached to lease ${id}, which the log does not know`);
        this.lessor.attach(id, key);
      };
      next = this.index.walk(next, Number.POSITIVE_INFINITY, attach, turn);
      if (turn.shouldYield(0)) yield;
    }
  }
}

export const alarmName = (alarm: Alarm): string => `${alarm.memberId}/${alarm.alarm}`;

/** AlarmType of etcdserverpb. */
export const ALARM_NOSPACE = 1;
export const ALARM_CORRUPT = 2;

import { EngramError, type LeaseId, type Txn } from '@engram/core';
import { type Caller, nodeItself } from '../caller.ts';
import { type Confirm, refuse, refusing } from './confirmed-refusal.ts';
import { GuardedProposals } from './guarded-proposals.ts';
import { LEASE_COST_BYTES, MARK_COST_BYTES, txnBytes, txnCost } from '../quota.ts';
import { ALARM_NOSPACE, type ReplicatedState } from '../apply/replicated-state.ts';
import type { SpaceKeeper } from './space-keeper.ts';
import type { LeaseView, Proposals, TxnResult } from '../store.ts';

export interface QuotaGuardOptions {
  readonly next: Proposals;
  /** Where a write that waited for room begins anew: an alarm may have been raised meanwhile. Called after the wait. */
  readonly again: () => Proposals;
  readonly state: Pick<ReplicatedState, 'isRaised'>;
  readonly space: Pick<SpaceKeeper, 'waiting' | 'ask'>;
  /** This member, which raises the alarm. */
  readonly memberId: bigint;
  readonly confirm: Confirm;
  /** Bytes of writes that wait for the log. */
  readonly queuedBytes: () => number;
  /** Bound on these and on the bytes of writes that wait for room, together: TooManyRequests above it. */
  readonly waitingBytesMax: number;
}

/** Writes that need room below the quota wait for it, or are refused with NoSpace (etcd: apply/quota.go, apply/capped.go). */
export class QuotaGuard extends GuardedProposals {
  readonly #options: QuotaGuardOptions;
  #waitingBytes = 0;

  constructor(options: QuotaGuardOptions) {
    super(options.next);
    this.#options = options;
  }

  /** Bytes of writes that wait for room. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  override txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    const cost = txnCost(txn);
    // A write that needs no room waits for those before it.
    const room = cost > 0 ? this.#roomFor(cost) : this.#options.space.waiting;
    if (room === undefined) return this.next.txn(txn, caller);
    return this.#whenRoom(room, txnBytes(txn), (entry) => entry.txn(txn, caller));
  }

  override leaseGrant(id: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView> {
    const room = this.#roomFor(LEASE_COST_BYTES);
    if (room === undefined) return this.next.leaseGrant(id, ttlSeconds, caller);
    return this.#whenRoom(room, MARK_COST_BYTES, (entry) => entry.leaseGrant(id, ttlSeconds, caller));
  }

  /**
   * Undefined if there is room for a write of this cost; a promise if the write must wait for room, and ask again. `full` if
   * none can be made: then the alarm is raised, and every write is `refused` until an operator clears it.
   */
  #roomFor(costBytes: number): Promise<void> | 'refused' | 'full' | undefined {
    const { state, space } = this.#options;
    if (state.isRaised(ALARM_NOSPACE)) return 'refused';
    const answer = space.waiting ?? space.ask(costBytes);
    return answer === 'room' ? undefined : answer;
  }

  /** Waits for room, with what the write keeps in memory meanwhile counted, and then begins anew. */
  #whenRoom<Answer>(
    room: Promise<void> | 'refused' | 'full',
    bytes: number,
    begin: (entry: Proposals) => Promise<Answer>,
  ): Promise<Answer> {
    const { confirm } = this.#options;
    if (room === 'refused') return refuse(confirm, 'NoSpace');
    const made = room === 'full' ? this.#raise() : room;
    return refusing(confirm, this.#wait(made, bytes, begin));
  }

  /**
   * The first refusal waits until the alarm has taken effect, so that a client that lists alarms after it finds the alarm.
   * Rejects with NoSpace.
   */
  async #raise(): Promise<never> {
    await this.next.activateAlarm({ memberId: this.#options.memberId, alarm: ALARM_NOSPACE }, nodeItself);
    throw new EngramError('NoSpace');
  }

  async #wait<Answer>(
    room: Promise<void>,
    bytes: number,
    begin: (entry: Proposals) => Promise<Answer>,
  ): Promise<Answer> {
    const { queuedBytes, waitingBytesMax, again } = this.#options;
    room.catch(() => {}); // a write that is refused for its bytes does not wait for it
    try {
      this.#waitingBytes += bytes;
      if (queuedBytes() + this.#waitingBytes > waitingBytesMax) throw new EngramError('TooManyRequests');
      await room;
    } finally {
      this.#waitingBytes -= bytes;
    }
    return begin(again());
  }
}

import type { LoggedWrite } from '@engram/sim/model';
import { expectThat } from './finding.ts';
import type { LeaseJudge } from './lease-judge.ts';
import { assign } from './matching.ts';

/** The end of a lease in the log. */
interface End {
  readonly write: LoggedWrite;
  readonly id: bigint;
  /** The position after the grant of the lease that it ends. */
  readonly granted: number;
  /** The time at which it was sent to the log. */
  readonly sentMs: number;
}

/** A client's revoke that has ended a lease, or may have ended it. */
interface Revoke {
  readonly what: string;
  readonly id: bigint;
  /** Its record in the log is at this position or later. */
  readonly from: number;
  /** Its record is before this position; infinite if the outcome is unknown, because it may still happen. */
  readonly to: number;
  readonly startMs: number;
  /** The revision of the answer; undefined if there was none. */
  readonly revision: number | undefined;
}

/**
 * Judges which revoke ended which lease. An id may be granted and revoked many times, so several ends may explain an
 * answer, and several revokes or the lease's TTL may explain an end. Two conditions must hold:
 *
 * - each answered revoke has ended a lease, each a different one;
 * - each end before the lease's TTL has passed is caused by a client's revoke, each by a different one.
 *
 * Both hold if one matching covers all answered revokes and another one covers all early ends, because then one
 * matching covers both (Mendelsohn and Dulmage). All revokes and ends of the run are kept, because there are few.
 */
export class RevokeJudge {
  readonly #leases: LeaseJudge;
  readonly #ends: End[] = [];
  readonly #revokes: Revoke[] = [];
  /** The answered revokes, each by its end. */
  readonly #endedBy = new Map<End, Revoke>();

  constructor(leases: LeaseJudge) {
    this.#leases = leases;
  }

  /** The end of the lease that was granted before position `granted` is durable. */
  ended(write: LoggedWrite, id: bigint, granted: number, sentMs: number): void {
    this.#ends.push({ write, id, granted, sentMs });
  }

  /**
   * A revoke was answered when the log ended at `to`. Returns the ends that it may have caused. `revision` is that of
   * the deleted keys. Without deleted keys, it is the visible revision after the end took effect: the end's revision or
   * a later one.
   */
  answered(
    call: { readonly what: string; readonly from: number; readonly startMs: number },
    id: bigint,
    revision: number,
    to: number,
  ): readonly LoggedWrite[] {
    const revoke: Revoke = { ...call, id, revision, to };
    this.#revokes.push(revoke);
    expectThat(
      assign(revoke, (one) => this.#endsOf(one), this.#endedBy),
      'answer',
      () => `${call.what} answered ${revision}, and the log has no such mark`,
    );
    return this.#endsOf(revoke)
      .filter((end) => this.#mayBe(revoke, end))
      .map(({ write }) => write);
  }

  /** A revoke has an unknown outcome. */
  unknown(call: { readonly what: string; readonly from: number; readonly startMs: number }, id: bigint): void {
    this.#revokes.push({ ...call, id, revision: undefined, to: Number.POSITIVE_INFINITY });
  }

  /** Checks all early ends. No revoke may be under way, so clients must have requested every early end. */
  settle(): void {
    const askedBy = new Map<Revoke, End>();
    for (const end of this.#ends) {
      const { id, granted, sentMs } = end;
      const isEarly = this.#leases.isEarly(granted, sentMs);
      if (isEarly && !assign(end, (one) => this.#revokesOf(one), askedBy)) this.#leases.expired(granted, id, sentMs);
    }
  }

  /** Whether all answered revokes can have ends of their own if this revoke has `end`. */
  #mayBe(revoke: Revoke, end: End): boolean {
    const matched = new Map<End, Revoke>([[end, revoke]]);
    return this.#revokes
      .filter((one) => one !== revoke && one.revision !== undefined)
      .every((one) => assign(one, (other) => (other === revoke ? [end] : this.#endsOf(other)), matched));
  }

  #endsOf(revoke: Revoke): readonly End[] {
    return this.#ends.filter((end) => explains(revoke, end));
  }

  #revokesOf(end: End): readonly Revoke[] {
    return this.#revokes.filter((revoke) => explains(revoke, end));
  }
}

/** Whether this revoke may have caused this end. */
function explains({ id, from, to, startMs, revision }: Revoke, { id: ended, write, sentMs }: End): boolean {
  if (id !== ended || write.position < from || write.position >= to || sentMs < startMs) return false;
  if (revision === undefined) return true;
  return write.events.length === 0 ? write.revision <= revision : write.revision === revision;
}

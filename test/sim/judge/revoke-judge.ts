import type { LoggedWrite } from '@engram/sim/model';
import { expectThat } from './finding.ts';
import type { LeaseJudge } from './lease-judge.ts';
import { assign } from './matching.ts';

/** The end of a lease, as the log has it. */
interface End {
  readonly write: LoggedWrite;
  readonly id: bigint;
  /** Behind the grant of the lease that it ends. */
  readonly granted: number;
  /** When it left for the log. */
  readonly sentMs: number;
}

/** A client's revoke that has ended a lease, or may have. */
interface Revoke {
  readonly what: string;
  readonly id: bigint;
  /** What it has left in the log is at this position or behind. */
  readonly from: number;
  /** And before this one; infinite where nobody was told that it happened: it may still. */
  readonly to: number;
  readonly startMs: number;
  /** As it was answered; undefined: it was not. */
  readonly revision: number | undefined;
}

/**
 * Which revoke ended which lease. An id may be granted and revoked many times, so an answer may be explained by several ends,
 * and an end by several clients or by the lease's time. What must hold:
 *
 * - each revoke that was answered has ended a lease, each another one;
 * - each end before the lease's time is that of a client's revoke, each of another one.
 *
 * Both hold if one matching covers all those revokes, and another one covers all those ends: then there is one that covers both
 * (Mendelsohn and Dulmage). All revokes and ends of the run are kept: there are few.
 */
export class RevokeJudge {
  readonly #leases: LeaseJudge;
  readonly #ends: End[] = [];
  readonly #revokes: Revoke[] = [];
  /** The revokes that were answered, each by an end of its own. */
  readonly #endedBy = new Map<End, Revoke>();

  constructor(leases: LeaseJudge) {
    this.#leases = leases;
  }

  /** The end is durable, of the lease that was granted before position `granted`. */
  ended(write: LoggedWrite, id: bigint, granted: number, sentMs: number): void {
    this.#ends.push({ write, id, granted, sentMs });
  }

  /**
   * A revoke was answered, when the log ended at `to`. Returns the ends that it may be, of which one is it. The revision is that
   * of the deleted keys; where there were none, what was visible when the end had taken effect: that of the end, or a later one.
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

  /** A revoke of which nobody was told what became of it. */
  unknown(call: { readonly what: string; readonly from: number; readonly startMs: number }, id: bigint): void {
    this.#revokes.push({ ...call, id, revision: undefined, to: Number.POSITIVE_INFINITY });
  }

  /** No revoke is under way: what ended before its time must be what clients have asked for. */
  settle(): void {
    const askedBy = new Map<Revoke, End>();
    for (const end of this.#ends) {
      const { id, granted, sentMs } = end;
      const isEarly = this.#leases.isEarly(granted, sentMs);
      if (isEarly && !assign(end, (one) => this.#revokesOf(one), askedBy)) this.#leases.expired(granted, id, sentMs);
    }
  }

  /** Whether all answered revokes have ends of their own where this one's is `end`. */
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

/** Whether this revoke may have ended it. */
function explains({ id, from, to, startMs, revision }: Revoke, { id: ended, write, sentMs }: End): boolean {
  if (id !== ended || write.position < from || write.position >= to || sentMs < startMs) return false;
  if (revision === undefined) return true;
  return write.events.length === 0 ? write.revision <= revision : write.revision === revision;
}

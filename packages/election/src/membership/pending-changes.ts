import type { ErrorCode } from '@engram/core';
import type { LogIndex, ProposeOutcome, Term } from '@engram/raft-ts';
import type { Effect, Ticket } from '../effect.ts';
import type { MemberRequest } from './membership-rules.ts';

/** Bound on the changes of the membership that wait for the one before, and on the proposals that wait for their commit. */
const WAITING_MAX = 64;

interface Proposed {
  readonly ticket: Ticket;
  readonly index: LogIndex;
  readonly term: Term;
}

/** The changes that this leader was asked for: the membership changes that wait their turn, and the open proposals. */
export class PendingChanges {
  readonly #emit: (effect: Effect) => void;
  #waiting: { readonly ticket: Ticket; readonly request: MemberRequest }[] = [];
  #proposed: Proposed[] = [];

  constructor(emit: (effect: Effect) => void) {
    this.#emit = emit;
  }

  /** The change to propose next. */
  get next(): MemberRequest | undefined {
    return this.#waiting[0]?.request;
  }

  add(ticket: Ticket, request: MemberRequest): void {
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push({ ticket, request });
    else this.refuse(ticket, 'TooManyRequests');
  }

  refuse(ticket: Ticket, code: ErrorCode): void {
    this.#emit({ kind: 'settled', ticket, outcome: { kind: 'refused', code } });
  }

  refuseNext(code: ErrorCode): void {
    const next = this.#waiting.shift();
    if (next !== undefined) this.refuse(next.ticket, code);
  }

  /** The next change was proposed. */
  nextProposed(outcome: ProposeOutcome & { readonly kind: 'appended' }): void {
    const next = this.#waiting.shift();
    if (next !== undefined) this.proposed(next.ticket, outcome);
  }

  /** True at the bound: no more changes may be proposed. */
  get full(): boolean {
    return this.#proposed.length >= WAITING_MAX;
  }

  proposed(ticket: Ticket, { term, first: index }: ProposeOutcome & { readonly kind: 'appended' }): void {
    this.#proposed.push({ ticket, index, term });
  }

  /** An entry was applied: settles the proposals at its index. */
  applied(index: LogIndex, term: Term): void {
    const left: Proposed[] = [];
    for (const proposal of this.#proposed) {
      if (proposal.index !== index) left.push(proposal);
      else if (proposal.term === term)
        this.#emit({ kind: 'settled', ticket: proposal.ticket, outcome: { kind: 'done' } });
      else this.refuse(proposal.ticket, 'LeaderChanged');
    }
    this.#proposed = left;
  }

  /** A snapshot has replaced the log, so the outcome of the open proposals is not known here. */
  passedOver(): void {
    for (const { ticket } of this.#proposed) this.#emit({ kind: 'settled', ticket, outcome: { kind: 'unknown' } });
    this.#proposed = [];
  }

  /** This member no longer leads: refuses the changes that were not proposed. Proposed changes may still be committed. */
  refuseWaiting(): void {
    for (const { ticket } of this.#waiting) this.refuse(ticket, 'LeaderChanged');
    this.#waiting = [];
  }
}

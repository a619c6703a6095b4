import type { Effect, Ticket } from './effect.ts';

/** Bound on the reads that wait for a round. */
const WAITING_MAX = 65_536;

/**
 * Reads that wait until this member is known to lead. All reads that wait when a round begins share it. Reads that come
 * during a round share the next one. So at most one round is under way, however many reads wait.
 */
export class ReadGate {
  readonly #emit: (effect: Effect) => void;
  #waiting: Ticket[] = [];
  #round: { readonly number: number; readonly tickets: readonly Ticket[] } | undefined;
  #rounds = 0;

  constructor(emit: (effect: Effect) => void) {
    this.#emit = emit;
  }

  add(ticket: Ticket): void {
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push(ticket);
    else this.#emit({ kind: 'not-confirmed', tickets: [ticket], code: 'TooManyRequests' });
  }

  /** Begins a round for all waiting reads. Returns its number for `finish`; undefined if no round begins now. */
  begin(): number | undefined {
    if (this.#round !== undefined || this.#waiting.length === 0) return undefined;
    this.#rounds += 1;
    this.#round = { number: this.#rounds, tickets: this.#waiting };
    this.#waiting = [];
    return this.#rounds;
  }

  /** Takes the reads of a confirmed round. Empty if the round is not of this leadership. */
  finish(number: number): readonly Ticket[] {
    if (this.#round?.number !== number) return [];
    const { tickets } = this.#round;
    this.#round = undefined;
    return tickets;
  }

  /** This member no longer leads: refuses all reads. */
  refuseAll(): void {
    const tickets = [...(this.#round?.tickets ?? []), ...this.#waiting];
    this.#round = undefined;
    this.#waiting = [];
    if (tickets.length > 0) this.#emit({ kind: 'not-confirmed', tickets, code: 'LeaderChanged' });
  }
}

import type { Effect, Ticket } from './effect.ts';

/** Bound on the reads that wait for a round. */
const WAITING_MAX = 65_536;

/**
 * Reads that wait until this member is known to lead. All reads that wait when a round begins share it. Reads that come
 * during a round share the next one. So at most one round is under way, however many reads wait. A read that has waited for
 * `ticksMax` is refused with Timeout: a round does not end while the Raft state of a majority cannot be saved.
 */
export class ReadGate {
  readonly #emit: (effect: Effect) => void;
  readonly #ticksMax: number;
  #ticks = 0;
  #waiting = new WaitingReads();
  #round: { readonly number: number; readonly reads: WaitingReads } | undefined;
  #rounds = 0;

  /** `ticksMax`: how long a read may wait. */
  constructor(emit: (effect: Effect) => void, ticksMax: number) {
    this.#emit = emit;
    this.#ticksMax = ticksMax;
  }

  add(ticket: Ticket): void {
    if (this.#waiting.tickets.length < WAITING_MAX) this.#waiting.add(ticket, this.#ticks);
    else this.#emit({ kind: 'not-confirmed', tickets: [ticket], code: 'TooManyRequests' });
  }

  /** Begins a round for all waiting reads. Returns its number for `finish`; undefined if no round begins now. */
  begin(): number | undefined {
    if (this.#round !== undefined || this.#waiting.tickets.length === 0) return undefined;
    this.#rounds += 1;
    this.#round = { number: this.#rounds, reads: this.#waiting };
    this.#waiting = new WaitingReads();
    return this.#rounds;
  }

  /** Takes the reads of a confirmed round. Empty if the round is not of this leadership. */
  finish(number: number): readonly Ticket[] {
    if (this.#round?.number !== number) return [];
    const { tickets } = this.#round.reads;
    this.#round = undefined;
    return tickets;
  }

  /** The round of a refused read stays under way. */
  tick(): void {
    this.#ticks += 1;
    const untilTick = this.#ticks - this.#ticksMax;
    const late = [...(this.#round?.reads.takeUntil(untilTick) ?? []), ...this.#waiting.takeUntil(untilTick)];
    if (late.length > 0) this.#emit({ kind: 'not-confirmed', tickets: late, code: 'Timeout' });
  }

  /** This member no longer leads: refuses all reads. */
  refuseAll(): void {
    const tickets = [...(this.#round?.reads.tickets ?? []), ...this.#waiting.tickets];
    this.#round = undefined;
    this.#waiting = new WaitingReads();
    if (tickets.length > 0) this.#emit({ kind: 'not-confirmed', tickets, code: 'LeaderChanged' });
  }
}

/** Reads in the order in which they came, each with the tick at which it came. */
class WaitingReads {
  readonly tickets: Ticket[] = [];
  readonly #sinceTicks: number[] = [];

  add(ticket: Ticket, tick: number): void {
    this.tickets.push(ticket);
    this.#sinceTicks.push(tick);
  }

  takeUntil(tick: number): readonly Ticket[] {
    let late = 0;
    while (late < this.tickets.length && this.#sinceTicks[late]! <= tick) late += 1;
    if (late === 0) return [];
    this.#sinceTicks.splice(0, late);
    return this.tickets.splice(0, late);
  }
}

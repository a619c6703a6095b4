import type { Ticket } from '../effect.ts';

interface Waiter<Value, About> {
  readonly about: About;
  readonly signal: AbortSignal;
  resolve(value: Value): void;
  reject(reason: unknown): void;
}

/** Those that wait with one signal. */
interface Heeding {
  readonly tickets: Set<Ticket>;
  readonly abort: () => void;
}

/**
 * Promises by ticket. A promise whose signal aborts is forgotten, but its outcome may still happen. Thousands may wait with one
 * signal, that of the node itself, so a signal has one listener: to add another one goes through all that it has.
 */
export class PromisesByTicket<Value, About = undefined> {
  readonly #waiting = new Map<Ticket, Waiter<Value, About>>();
  readonly #heeding = new Map<AbortSignal, Heeding>();
  #tickets = 0;

  /** `ask` gets the ticket by which the promise is settled. `about` is kept as long as the promise waits. */
  wait(signal: AbortSignal, about: About, ask: (ticket: Ticket) => void): Promise<Value> {
    if (signal.aborted) return Promise.reject(signal.reason);
    this.#tickets += 1;
    const ticket = this.#tickets;
    const promise = new Promise<Value>((resolve, reject) => {
      this.#waiting.set(ticket, { about, signal, resolve, reject });
    });
    this.#heed(signal, ticket);
    ask(ticket);
    return promise;
  }

  resolve(ticket: Ticket, value: Value): void {
    this.#take(ticket)?.resolve(value);
  }

  reject(ticket: Ticket, reason: unknown): void {
    this.#take(ticket)?.reject(reason);
  }

  tickets(): readonly Ticket[] {
    return [...this.#waiting.keys()];
  }

  /** What each of `tickets` is about. */
  waiting(): readonly (readonly [Ticket, About])[] {
    return Array.from(this.#waiting, ([ticket, { about }]) => [ticket, about] as const);
  }

  rejectAll(reason: unknown): void {
    for (const ticket of this.tickets()) this.reject(ticket, reason);
  }

  #heed(signal: AbortSignal, ticket: Ticket): void {
    let heeding = this.#heeding.get(signal);
    if (heeding === undefined) {
      const tickets = new Set<Ticket>();
      const abort = (): void => {
        for (const each of [...tickets]) this.reject(each, signal.reason);
      };
      heeding = { tickets, abort };
      this.#heeding.set(signal, heeding);
      signal.addEventListener('abort', abort, { once: true });
    }
    heeding.tickets.add(ticket);
  }

  #take(ticket: Ticket): Waiter<Value, About> | undefined {
    const waiter = this.#waiting.get(ticket);
    if (waiter === undefined) return undefined;
    const { signal } = waiter;
    this.#waiting.delete(ticket);
    const heeding = this.#heeding.get(signal);
    heeding?.tickets.delete(ticket);
    if (heeding?.tickets.size === 0) {
      this.#heeding.delete(signal);
      signal.removeEventListener('abort', heeding.abort);
    }
    return waiter;
  }
}

import type { Ticket } from '../effect.ts';

interface Waiter<Value> {
  resolve(value: Value): void;
  reject(reason: unknown): void;
}

/** Promises by ticket. A promise whose signal aborts is forgotten, but its outcome may still happen. */
export class PromisesByTicket<Value> {
  readonly #waiting = new Map<Ticket, Waiter<Value>>();
  #tickets = 0;

  /** `ask` gets the ticket by which the promise is settled. */
  wait(signal: AbortSignal, ask: (ticket: Ticket) => void): Promise<Value> {
    if (signal.aborted) return Promise.reject(signal.reason);
    this.#tickets += 1;
    const ticket = this.#tickets;
    const promise = new Promise<Value>((resolve, reject) => {
      const abort = (): void => {
        this.#waiting.delete(ticket);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
      const end = (): void => signal.removeEventListener('abort', abort);
      this.#waiting.set(ticket, {
        resolve: (value) => {
          end();
          resolve(value);
        },
        reject: (reason) => {
          end();
          reject(reason);
        },
      });
    });
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

  rejectAll(reason: unknown): void {
    for (const ticket of this.tickets()) this.reject(ticket, reason);
  }

  #take(ticket: Ticket): Waiter<Value> | undefined {
    const waiter = this.#waiting.get(ticket);
    this.#waiting.delete(ticket);
    return waiter;
  }
}

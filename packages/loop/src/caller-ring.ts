import { assert, Fifo } from '@engram/core';

/** The time that a caller gets in each round of its class. */
export const QUANTUM_MS = 1;
/** The most that a caller, or a class, owes after a slice that was too long. */
export const DEBT_MAX_MS = 50;

class Line<Item> {
  readonly caller: object | string;
  readonly items = new Fifo<Item>();
  /** At most QUANTUM_MS. Negative after a slice that was longer than the rest of the quantum. */
  creditMs = QUANTUM_MS;
  /** The line behind this one. */
  next: Line<Item> = this;

  constructor(caller: object | string) {
    this.caller = caller;
  }
}

/**
 * Items of several callers, with deficit round robin: callers that always have items get equal time, however long their
 * slices are and however many items they have. A caller without items is forgotten once it has paid what it owes: a caller
 * whose slice has just ended asks for the next one a moment later.
 */
export class CallerRing<Item> {
  readonly #lines = new Map<object | string, Line<Item>>();
  /** The line before the one that is next: a ring. */
  #last: Line<Item> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Callers with items, or with debts. */
  get callers(): number {
    return this.#lines.size;
  }

  push(caller: object | string, item: Item): void {
    const line = this.#lines.get(caller) ?? this.#enter(caller);
    line.items.push(item);
    this.#size += 1;
  }

  /** The next item, of the caller whose turn it is. The ring has one. */
  take(): Item {
    assert(this.#size > 0, 'nothing waits');
    for (;;) {
      const line: Line<Item> = this.#last!.next;
      if (line.creditMs > 0 && line.items.length > 0) {
        this.#size -= 1;
        return line.items.shift() as Item;
      }
      line.creditMs = Math.min(QUANTUM_MS, line.creditMs + QUANTUM_MS);
      if (line.items.length > 0 || line.creditMs < 0) this.#last = line;
      else this.#leave(line);
    }
  }

  /** An item of this caller took so long. */
  charge(caller: object | string, ms: number): void {
    const line = this.#lines.get(caller);
    if (line !== undefined) line.creditMs = Math.max(-DEBT_MAX_MS, line.creditMs - ms);
  }

  #enter(caller: object | string): Line<Item> {
    const line = new Line<Item>(caller);
    if (this.#last !== undefined) {
      line.next = this.#last.next;
      this.#last.next = line;
    }
    this.#last = line;
    this.#lines.set(caller, line);
    return line;
  }

  /** `line` is the next one. */
  #leave(line: Line<Item>): void {
    assert(this.#last?.next === line, 'a line leaves out of turn');
    assert(line.next !== line, 'the last line leaves while items wait');
    this.#lines.delete(line.caller);
    this.#last.next = line.next;
  }
}

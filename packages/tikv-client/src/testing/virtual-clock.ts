import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, Random, Timer } from '@engram/core';

interface Entry {
  readonly atMs: number;
  readonly order: number;
  readonly fire: () => void;
}

/** Time that moves only when nothing else is left to do. With it a test of minutes takes milliseconds, always the same. */
export class VirtualClock implements Clock {
  #nowMs = 0;
  #order = 0;
  #entries: Entry[] = [];
  /** Added to what people read, as a machine with a wrong clock has it. */
  wallOffsetMs = 1_700_000_000_000;

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#nowMs + this.wallOffsetMs;
  }

  after(delayMs: number, fire: () => void): Timer {
    const entry: Entry = { atMs: this.#nowMs + Math.max(0, delayMs), order: ++this.#order, fire };
    this.#entries.push(entry);
    return {
      cancel: () => {
        const at = this.#entries.indexOf(entry);
        if (at >= 0) this.#entries.splice(at, 1);
      },
    };
  }

  soon(fire: () => void): void {
    this.after(0, fire);
  }

  /** Timers that wait; a test that ends with some has leaked them. */
  get pending(): number {
    return this.#entries.length;
  }

  #step(): boolean {
    let next: Entry | undefined;
    for (const entry of this.#entries) {
      if (next === undefined || entry.atMs < next.atMs || (entry.atMs === next.atMs && entry.order < next.order))
        next = entry;
    }
    if (next === undefined) return false;
    this.#entries.splice(this.#entries.indexOf(next), 1);
    this.#nowMs = Math.max(this.#nowMs, next.atMs);
    next.fire();
    return true;
  }

  /** Lets time pass until `promise` has settled. Throws if it waits for nothing that will ever come. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = promise.then(
      () => {
        settled = true;
      },
      () => {
        settled = true;
      },
    );
    for (let idle = 0; !settled; ) {
      await turn();
      if (settled) break;
      if (this.#step()) idle = 0;
      else {
        idle += 1;
        if (idle > 50) throw new Error('nothing is left to happen, but the promise has not settled');
      }
    }
    await done;
    return promise;
  }

  /** Lets `ms` pass, with all that happens meanwhile. */
  async pass(ms: number): Promise<void> {
    await this.run(
      new Promise<void>((resolve) => {
        this.after(ms, resolve);
      }),
    );
  }
}

/** A small seeded generator (mulberry32). */
export class SeededRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  uint32(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  below(bound: number): number {
    return this.uint32() % bound;
  }
}

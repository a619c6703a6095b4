import { type EventGroup, SequenceRing } from '@engram/core';
import type { Origin } from './caller.ts';
import type { CommittedWrite, Mark } from './committed-write.ts';

const CAPACITY_MIN = 256;

/** How a write ends for the one who waits for it, and what must be given back then. */
export interface WriteEnd {
  /** It has taken effect: make the answer. */
  answer(): void;
  reject(error: Error): void;
  /** Keeps the versions that the answer needs; given back however the write ends. */
  readonly pin: Disposable | undefined;
}

/**
 * The writes that somebody waits for, in the order in which they came. They end in nearly that order; one that ended is
 * forgotten when all before it have. (As a Set they cost the collector the copying of a third of what a write allocates.)
 */
export class PendingWrites {
  readonly #ring = new SequenceRing<PendingWrite>(CAPACITY_MIN);

  /** Of those that did not end, the oldest. */
  oldest(): PendingWrite | undefined {
    this.#forgetEnded();
    return this.#ring.get(this.#ring.first);
  }

  add(write: CommittedWrite, startMs: number, end: WriteEnd): PendingWrite {
    this.#forgetEnded();
    const pending = new PendingWrite(write, startMs, end);
    this.#ring.put(this.#ring.next, pending);
    return pending;
  }

  #forgetEnded(): void {
    const ring = this.#ring;
    let from = ring.first;
    while (ring.get(from)?.ended === true) from += 1;
    ring.forgetBefore(from);
  }
}

/** A write that somebody waits for. The first call of `settle` or `fail` counts; what it does to the state is another matter. */
export class PendingWrite implements CommittedWrite {
  readonly mark: Mark | undefined;
  readonly group: EventGroup | undefined;
  readonly origin: Origin | undefined;
  readonly startMs: number;
  readonly #end: WriteEnd;
  #ended = false;

  constructor({ mark, group, origin }: CommittedWrite, startMs: number, end: WriteEnd) {
    this.mark = mark;
    this.group = group;
    this.origin = origin;
    this.startMs = startMs;
    this.#end = end;
  }

  get ended(): boolean {
    return this.#ended;
  }

  settle(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#end.answer();
    this.#end.pin?.[Symbol.dispose]();
  }

  fail(error: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#end.pin?.[Symbol.dispose]();
    this.#end.reject(error);
  }
}

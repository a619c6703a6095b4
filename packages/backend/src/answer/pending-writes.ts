import { type EventGroup, SequenceRing } from '@engram/core';
import type { Origin } from '../caller.ts';
import type { CommittedWrite, Mark } from '../apply/committed-write.ts';

const CAPACITY_MIN = 256;

/** How a write ends for the caller that waits for it. */
export interface WriteEnd {
  /** The write has taken effect: builds the answer. */
  answer(): void;
  reject(error: Error): void;
  /** Keeps the versions that the answer needs. Disposed however the write ends. */
  readonly pin: Disposable | undefined;
}

/**
 * Writes that callers wait for, in the order in which they came. They end in nearly that order. An ended write is
 * forgotten when all writes before it have ended. (With a Set, the garbage collector copied a third of what a write
 * allocates.)
 */
export class PendingWrites {
  readonly #ring = new SequenceRing<PendingWrite>(CAPACITY_MIN);

  /** The oldest write that has not ended. */
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

/**
 * A write that a caller waits for. Only the first call of `settle` or `fail` counts. Neither changes the write's
 * effect on the state.
 */
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

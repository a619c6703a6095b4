import { assert } from '@engram/core';
import type { Job } from './turn.ts';
import type { Task } from './work-class.ts';

/** Something that waits for a slice. */
export interface Parked {
  readonly task: Task;
  /** The slice begins, at `nowMs` if the time has been read. */
  resume(nowMs?: number): void;
}

/** The part of the loop that a parked job uses. */
export interface SliceGiver {
  park(parked: Parked): void;
  /** As `park`, for a job whose promise has settled: it has a slice at once if nobody waits, and the turn has time left. */
  resume(parked: Parked): void;
  /** Gives what runs between the two calls a slice. */
  enter(nowMs?: number): void;
  leave(): void;
}

/** A job that did not end in its first slice, and the promise of its result. */
export class ParkedJob<Result> implements Parked {
  readonly task: Task;
  readonly result: Promise<Result>;
  readonly #loop: SliceGiver;
  readonly #job: Job<Result>;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (result: Result) => void;
  readonly #reject: (reason: unknown) => void;
  /** What the job waited for has failed: thrown into it in its next slice. */
  #failure: { readonly reason: unknown } | undefined;

  constructor(loop: SliceGiver, task: Task, job: Job<Result>, signal: AbortSignal | undefined) {
    this.task = task;
    this.#loop = loop;
    this.#job = job;
    this.#signal = signal;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.result = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  resume(nowMs?: number): void {
    if (this.#signal?.aborted === true) this.#cancel(this.#signal.reason);
    else this.#advance(nowMs);
  }

  /** The job has yielded. */
  wait(value: Promise<unknown> | undefined): void {
    if (value === undefined) this.#loop.park(this);
    else {
      value.then(
        () => this.#loop.resume(this),
        (reason: unknown) => {
          this.#failure = { reason };
          this.#loop.resume(this);
        },
      );
    }
  }

  #advance(nowMs: number | undefined): void {
    const failure = this.#failure;
    this.#failure = undefined;
    let slice: IteratorResult<Promise<unknown> | undefined, Result>;
    this.#loop.enter(nowMs);
    try {
      slice = failure === undefined ? this.#job.next() : this.#job.throw(failure.reason);
    } catch (error) {
      this.#reject(error);
      return;
    } finally {
      this.#loop.leave();
    }
    if (slice.done === true) this.#resolve(slice.value);
    else this.wait(slice.value);
  }

  #cancel(reason: unknown): void {
    try {
      const { done } = this.#job.return(undefined as never);
      assert(done === true, 'a cancelled job goes on');
      this.#reject(reason);
    } catch (error) {
      this.#reject(error);
    }
  }
}

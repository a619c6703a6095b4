import { type Clock, type LogPosition, Waiters } from '@engram/core';
import type { Job, Loop, Task } from '@engram/loop';
import type { Applier } from '../apply/applier.ts';
import type { ApplyNext } from '../apply/apply-next.ts';
import type { CommittedWrite } from '../apply/committed-write.ts';
import type { Publisher } from '../publish/publisher.ts';

interface DurableBatch {
  readonly writes: readonly CommittedWrite[];
  readonly next: LogPosition;
  readonly after: ApplyNext<CommittedWrite> | undefined;
  ready: boolean;
}

const APPLY: Task = { work: 'durable', caller: 'log', stage: 'apply' };

export interface DurablePathOptions {
  readonly applier: Applier;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly loop: Loop;
  /** A write that a member forwarded to the leader has taken effect. */
  readonly onForwarded: (write: CommittedWrite) => void;
  /** `next` has moved. */
  readonly onApplied: () => void;
  /** A compaction has taken effect: its garbage may be freed. */
  readonly onCompacted: () => void;
  /** An invariant is broken. */
  readonly onFatal: (error: Error) => void;
}

/**
 * The path of a batch from the log on, the leader's own or another member's: it is applied and published, and then whoever waits
 * for it goes on. All that is done in the call that brings it, unless it takes more than a slice. Batches go through the stages in
 * the order of the log. One waits only for those before it, and for superseded versions that watchers want (`Publisher`).
 */
export class DurablePath {
  readonly #options: DurablePathOptions;
  readonly #queue: DurableBatch[] = [];
  #next: LogPosition;
  /** A job takes batches through the stages, one after the other. */
  #busy = false;
  readonly #emptied = new Waiters();

  constructor(options: DurablePathOptions) {
    this.#options = options;
    this.#next = options.applier.next;
  }

  /** Every record before this position has taken effect, and was published. */
  get next(): LogPosition {
    return this.#next;
  }

  /** Resolves when every batch given to `add` has gone through the stages. */
  async idle(): Promise<void> {
    while (this.#queue.length > 0) await this.#emptied.next();
  }

  /** Adds durable writes, whose records end before `next`. */
  add<Entry extends CommittedWrite>(
    writes: readonly Entry[],
    next: LogPosition,
    after: ApplyNext<Entry> | undefined,
  ): void {
    const batch: DurableBatch = { writes, next, after, ready: false };
    this.#queue.push(batch);
    void this.#options.loop.run(APPLY, this.#preparing(batch));
  }

  *#preparing(batch: DurableBatch): Job<undefined> {
    try {
      yield* this.#options.publisher.prepare(batch.writes);
      batch.ready = true;
      if (!this.#busy) yield* this.#advance();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Moves the batches that are ready, in their order. One job at a time. */
  *#advance(): Job<void> {
    const { applier, publisher, clock, onApplied, onCompacted } = this.#options;
    const { state } = applier;
    this.#busy = true;
    for (let batch = this.#queue[0]; batch?.ready === true; batch = this.#queue[0]) {
      const { writes, next, after } = batch;
      const compacted = state.compactRevision;
      yield* applier.apply(writes, next);
      const watched = publisher.isWatched;
      let nowMs = after === undefined ? 0 : clock.nowMs();
      after?.applied(writes, nowMs);
      this.#reportForwarded(writes);
      const publishing = publisher.publish(writes);
      if (publishing !== undefined) yield publishing;
      if (state.compactRevision !== compacted) {
        publisher.compacted();
        onCompacted();
      }
      this.#next = next;
      // Without watchers no time has passed.
      if (watched && after !== undefined) nowMs = clock.nowMs();
      const answering = after?.published(writes, next, nowMs);
      onApplied();
      if (answering !== undefined) yield answering;
      this.#queue.shift(); // cheap: the queue has a handful of batches at most
    }
    this.#busy = false;
    if (this.#queue.length === 0) this.#emptied.wakeAll();
  }

  #reportForwarded(writes: readonly CommittedWrite[]): void {
    for (const write of writes) if (write.origin !== undefined) this.#options.onForwarded(write);
  }

  #failed(error: unknown): void {
    this.#options.onFatal(
      error instanceof Error ? error : new Error('a write could not take effect', { cause: error }),
    );
  }
}

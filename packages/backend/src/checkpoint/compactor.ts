import { type Clock, type Logger, type LogPosition, NO_REVISION, type Revision } from '@engram/core';
import { type Loop, Rests, type Task } from '@engram/loop';
import type { Pins } from '@engram/scanner';
import type { Values } from '@engram/storage';
import type { ReplicatedState } from '../apply/replicated-state.ts';
import type { Garbage } from './garbage.ts';

const COMPACT: Task = { work: 'background', caller: 'compaction', stage: 'compact' };
/** The most versions that leave the index in a slice. */
const SLICE_VERSIONS = 2000;

export interface CompactorOptions {
  readonly state: ReplicatedState;
  readonly values: Values;
  readonly pins: Pins;
  readonly clock: Clock;
  readonly loop: Loop;
  readonly logger: Logger;
  /** How long a snapshot may delay a compaction before its pin is revoked. */
  readonly holdMaxMs: number;
  /** Gets what leaves the index. Only what a checkpoint covers is dropped from storage. */
  readonly garbage: Garbage;
  /** Called at the end of a run with the number of versions dropped and the time it took. */
  readonly onFinished?: (revision: Revision, dropped: number, durationMs: number) => void;
}

/**
 * Frees the versions that a compaction has made invisible, in slices between which requests are served. A
 * version that the newest checkpoint does not cover stays on disk until a checkpoint does, because a restart replays
 * the log from there without gaps.
 */
export class Compactor {
  readonly #options: CompactorOptions;
  #run: Promise<void> | undefined;
  #finished: Revision;
  #closed = false;

  constructor(options: CompactorOptions) {
    this.#options = options;
    this.#finished = NO_REVISION; // a restart may have left garbage of earlier compactions
  }

  /** Frees everything below the state's compact revision. Resolves when the index is free of it. */
  start(): Promise<void> {
    if (this.#run === undefined && !this.#isDue) return Promise.resolve();
    this.#run ??= this.#work();
    return this.#run;
  }

  get #isDue(): boolean {
    return !this.#closed && this.#options.state.compactRevision !== this.#finished;
  }

  /**
   * To be called after a checkpoint. Drops from storage the records that were kept only for a replay from the
   * previous one.
   */
  dropCovered(): Promise<void> {
    const { values, garbage, loop, clock } = this.#options;
    const rests = new Rests(loop, clock, COMPACT);
    return garbage.dropCovered(
      async (positions) => {
        if (!this.#closed) await values.drop(positions);
      },
      async () => {
        if (!this.#closed) await rests.pause();
      },
    );
  }

  /** Ends the snapshots that hold the compaction up, before their time. They are refused with Compacted. */
  endHolds(): void {
    this.#endHolds(this.#options.state.compactRevision);
  }

  #endHolds(target: Revision): void {
    const { pins, logger } = this.#options;
    const revoked = pins.revokeBelow(target);
    if (revoked > 0) logger.warn({ 'compact-revision': target, revoked }, 'ended snapshots that held a compaction up');
  }

  /** Resolves when the run has ended. The owner must close the pins before, because the run may wait for them. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#run?.catch(() => undefined);
  }

  /** To be begun only when a compaction is due. */
  async #work(): Promise<void> {
    try {
      while (this.#isDue) await this.#compact(this.#options.state.compactRevision);
    } finally {
      // In the call that has found nothing due: a compaction that takes effect behind it begins a run.
      this.#run = undefined;
    }
  }

  async #compact(target: Revision): Promise<void> {
    const { state, garbage, clock, loop, logger } = this.#options;
    const rests = new Rests(loop, clock, COMPACT);
    const startMs = clock.nowMs();
    let dropped = 0;
    for (let done = false; !done; ) {
      await this.#clearPins(target);
      if (this.#closed) return;
      const positions: LogPosition[] = [];
      done = loop.slice(() => state.index.compact(target, SLICE_VERSIONS, positions, loop));
      dropped += positions.length;
      garbage.add(positions);
      await this.dropCovered();
      await rests.pause();
      if (this.#closed && !done) return;
    }
    this.#finished = target;
    const durationMs = clock.nowMs() - startMs;
    logger.info(
      { 'compact-revision': target, dropped, 'took-ms': Math.round(durationMs) },
      'finished scheduled compaction',
    );
    this.#options.onFinished?.(target, dropped, durationMs);
  }

  /**
   * Waits until no pin is below `target`. Most pins are held for one answer and go soon. A snapshot's pin lasts as
   * long as its client reads, so it is revoked after `holdMaxMs`, or by `endHolds`.
   */
  async #clearPins(target: Revision): Promise<void> {
    const { pins, clock, holdMaxMs } = this.#options;
    const cleared = pins.clearBelow(target);
    if (cleared === undefined) return;
    const timer = clock.after(holdMaxMs, () => this.#endHolds(target));
    await cleared;
    timer.cancel();
  }
}

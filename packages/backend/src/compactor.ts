import { type Clock, type Logger, type LogPosition, nextTurn, NO_REVISION, type Revision } from '@engram/core';
import type { Pins } from '@engram/scanner';
import type { Values } from '@engram/storage';
import type { ReplicatedState } from './replicated-state.ts';

/** Garbage looked at before others get their turn: about a millisecond of work, also where whole keys leave the index. */
const STEP_CANDIDATES = 250;
/** Positions handed to storage at once, before others get their turn. */
const DROP_MAX = 2000;

export interface CompactorOptions {
  readonly state: ReplicatedState;
  readonly values: Values;
  readonly pins: Pins;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long a snapshot may hold a compaction up before its pin is taken from it. */
  readonly holdMaxMs: number;
  /** Records before it are covered by the newest checkpoint: only those may be dropped from storage. */
  readonly checkpointed: () => LogPosition;
  /** Candidates, or positions, that are worked off before others get their turn. */
  readonly sliceMax: number;
  /** The garbage of one run and how long it took. */
  readonly onFinished?: (revision: Revision, dropped: number, durationMs: number) => void;
}

/**
 * Frees what a compaction has made invisible, in small steps between which requests are served. Versions that a
 * checkpoint does not cover yet stay on disk until it does, because a restart replays the log from there without gaps.
 */
export class Compactor {
  readonly #options: CompactorOptions;
  /** Left the index, but still needed for a replay from the newest checkpoint. */
  #deferred: LogPosition[] = [];
  /** Those that storage is being told of. */
  #telling: readonly LogPosition[] = [];
  #run: Promise<void> | undefined;
  #finished: Revision;
  #closed = false;

  constructor(options: CompactorOptions, deferred: readonly LogPosition[]) {
    this.#options = options;
    this.#deferred = deferred.slice();
    this.#finished = NO_REVISION; // what was compacted before a restart may not have been worked off
  }

  /** What storage has not been told of: garbage that waits for the next checkpoint, and what is told now. */
  get untold(): readonly LogPosition[] {
    return this.#telling.length === 0 ? this.#deferred : [...this.#deferred, ...this.#telling];
  }

  /** Works off everything below the state's compact revision; resolves when the index is free of it. */
  start(): Promise<void> {
    this.#run ??= this.#work().finally(() => {
      this.#run = undefined;
    });
    return this.#run;
  }

  /** After a checkpoint: storage frees what was only kept for the replay from the one before. */
  async dropCovered(): Promise<void> {
    const covered = this.#options.checkpointed();
    await this.#drop(this.#deferred.filter((position) => position < covered));
    // Not before: a checkpoint that is taken meanwhile must name what storage has not been told of.
    this.#deferred = this.#deferred.filter((position) => position >= covered);
  }

  /** Whatever it waits for: the pins are closed by their owner before. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#run?.catch(() => undefined);
  }

  async #work(): Promise<void> {
    const { state, clock, logger, sliceMax } = this.#options;
    while (!this.#closed && state.compactRevision !== this.#finished) {
      const target = state.compactRevision;
      const startMs = clock.nowMs();
      let dropped = 0;
      let done = false;
      while (!done && !this.#closed) {
        await this.#clearPins(target);
        if (this.#closed) return;
        const positions: LogPosition[] = [];
        done = state.index.compact(target, Math.min(STEP_CANDIDATES, sliceMax), positions);
        dropped += positions.length;
        await this.#release(positions);
        await nextTurn(clock);
      }
      if (!done) return;
      this.#finished = target;
      const durationMs = clock.nowMs() - startMs;
      logger.info(
        { 'compact-revision': target, dropped, 'took-ms': Math.round(durationMs) },
        'finished scheduled compaction',
      );
      this.#options.onFinished?.(target, dropped, durationMs);
    }
  }

  /** Pins are held for one answer, so they go soon; only a snapshot's lasts as long as its client reads. */
  async #clearPins(target: Revision): Promise<void> {
    const { pins, clock, holdMaxMs, logger } = this.#options;
    const cleared = pins.clearBelow(target);
    if (cleared === undefined) return;
    const timer = clock.after(holdMaxMs, () => {
      const revoked = pins.revokeBelow(target);
      if (revoked > 0)
        logger.warn({ 'compact-revision': target, revoked }, 'ended snapshots that held a compaction up');
    });
    await cleared;
    timer.cancel();
  }

  async #release(positions: readonly LogPosition[]): Promise<void> {
    const covered = this.#options.checkpointed();
    const drop: LogPosition[] = [];
    for (const position of positions) (position < covered ? drop : this.#deferred).push(position);
    // The index has let go of them: a checkpoint that is taken before storage knows of them must name them.
    this.#telling = drop;
    try {
      await this.#drop(drop);
    } catch (error) {
      for (const position of drop) this.#deferred.push(position);
      throw error;
    } finally {
      this.#telling = [];
    }
  }

  async #drop(positions: readonly LogPosition[]): Promise<void> {
    const { values, clock, sliceMax } = this.#options;
    const slice = Math.min(DROP_MAX, sliceMax);
    for (let from = 0; from < positions.length; from += slice) {
      if (from > 0) await nextTurn(clock);
      if (this.#closed) return;
      await values.drop(positions.slice(from, from + slice));
    }
  }
}

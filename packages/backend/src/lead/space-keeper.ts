import { type Clock, EngramError, type Logger, type Revision } from '@engram/core';
import type { StorageSize } from '@engram/storage';

/** From this part of the quota on, garbage is given back in the background, if there is as much as the second says. */
const EARLY_SHARE = 3 / 4;
const EARLY_GARBAGE_SHARE = 1 / 8;
/** A try that gave back less than this part of the quota is repeated after a compaction or after the pause. */
const WORTH_SHARE = 1 / 16;
const PAUSE_MS = 10_000;
/** How often writes that wait look for room. */
const LOOK_MS = 50;
/** Snapshots may delay writes that wait for room by this part of the time of a request. The rest is for giving back. */
const HOLD_SHARE = 1 / 4;

export interface SpaceKeeperOptions {
  /** No quota if 0 or less. */
  readonly quotaBytes: number;
  readonly size: () => StorageSize;
  /** Only a compaction makes garbage. */
  readonly compactRevision: () => Revision;
  /** Gives the space of everything that was compacted away back, as a defragmentation does. */
  readonly reclaim: () => Promise<void>;
  /** Ends the snapshots that keep what was compacted away from being given back. */
  readonly endHolds: () => void;
  /** How long a write may wait for room: then it is answered Timeout. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Keeps room below the quota for writes. What was compacted away may still take space: because the newest checkpoint
 * does not cover it, or because it lies beside what lives. It is given back before a write is refused. Writes wait
 * meanwhile, all of them, so that they keep their order.
 *
 * A client that reads a snapshot slowly keeps garbage too. Only a fourth of the time of a request is left to it while writes wait: a
 * backup can be taken again, and a store that refuses writes stops its cluster.
 */
export class SpaceKeeper {
  readonly #options: SpaceKeeperOptions;
  #work: Promise<void> | undefined;
  /** What the writes wait for. */
  #gate: Promise<void> | undefined;
  #openGate = (): void => {};
  /** What was compacted when the last try began. Undefined before the first. */
  #triedAt: Revision | undefined;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(options: SpaceKeeperOptions) {
    this.#options = options;
  }

  /** Undefined if no write waits for room. Resolves when a write may ask again; rejects with Timeout. */
  get waiting(): Promise<void> | undefined {
    return this.#gate === undefined ? undefined : this.#bounded(this.#gate);
  }

  /**
   * `room` for a write of this cost, `full` if there is none and none can be made, or a promise: when it resolves, ask
   * again. It rejects with Timeout.
   */
  ask(costBytes: number): 'room' | 'full' | Promise<void> {
    const { quotaBytes, size, compactRevision, clock } = this.#options;
    if (quotaBytes <= 0 || this.#closed) return 'room';
    const { totalBytes, inUseBytes } = size();
    const wanted = totalBytes + costBytes;
    if (wanted < quotaBytes * EARLY_SHARE) return 'room';
    const compacted = compactRevision() !== this.#triedAt;
    if (wanted < quotaBytes) {
      if (compacted && totalBytes - inUseBytes >= quotaBytes * EARLY_GARBAGE_SHARE) this.#start();
      return 'room';
    }
    if (this.#work === undefined && !compacted && clock.nowMs() < this.#notBeforeMs) return 'full';
    this.#start();
    this.#gate ??= this.#wait(costBytes);
    return this.#bounded(this.#gate);
  }

  /** The leadership has ended: writes wait no longer, and are refused elsewhere. */
  close(): void {
    this.#closed = true;
    this.#openGate();
  }

  #start(): void {
    const { clock, quotaBytes, size, compactRevision, reclaim, logger } = this.#options;
    if (this.#work !== undefined) return;
    const before = size().totalBytes;
    this.#triedAt = compactRevision();
    this.#work = reclaim()
      .catch((error: unknown) => logger.warn({ err: error }, 'cannot give back what was compacted'))
      .then(() => {
        const freed = before - size().totalBytes;
        logger.info({ before, freed, quota: quotaBytes }, 'gave back what was compacted, because the quota is near');
        if (freed < quotaBytes * WORTH_SHARE) this.#notBeforeMs = clock.nowMs() + PAUSE_MS;
        this.#work = undefined;
      });
  }

  /** Until there is room, or all is given back. */
  #wait(costBytes: number): Promise<void> {
    const { clock, size, quotaBytes, endHolds, timeoutMs } = this.#options;
    const heldUntilMs = clock.nowMs() + timeoutMs * HOLD_SHARE;
    return new Promise((resolve) => {
      let timer = clock.after(LOOK_MS, look);
      const open = (): void => {
        timer.cancel();
        this.#gate = undefined;
        resolve();
      };
      function look(): void {
        if (size().totalBytes + costBytes < quotaBytes) {
          open();
          return;
        }
        if (clock.nowMs() >= heldUntilMs) endHolds();
        timer = clock.after(LOOK_MS, look);
      }
      this.#openGate = open;
      void this.#work?.then(open);
    });
  }

  async #bounded(gate: Promise<void>): Promise<void> {
    const { clock, timeoutMs } = this.#options;
    let expire = (): void => {};
    const expired = new Promise<never>((_, reject) => {
      expire = () => reject(new EngramError('Timeout'));
    });
    const timer = clock.after(timeoutMs, expire);
    try {
      await Promise.race([gate, expired]);
    } finally {
      timer.cancel();
    }
  }
}

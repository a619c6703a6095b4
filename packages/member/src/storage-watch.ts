import { type Clock, type Logger, type Timer, withDeadline } from '@engram/core';

export interface StorageWatchOptions {
  /** See `ClusterMemberOptions`. */
  readonly probeStorage: (signal: AbortSignal) => Promise<void>;
  /** Whether this node leads. */
  readonly leads: () => boolean;
  /** How long the leader's append, or its check of the seal, has been under way; 0 if there is none. */
  readonly underWayMs: () => number;
  /** As `underWayMs`, but 0 as long as storage may still answer soon. */
  readonly stalledMs: () => number;
  readonly onHealth: (healthy: boolean) => void;
  /** Asks whether this node still leads, and ends its leadership if not. Rejections are of no interest. */
  readonly confirm: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const CHECK_MS = 250;
/** A leader that nobody reads from and that writes nothing learns of a later leader after so long at most. */
const CONFIRM_MS = 5000;
/** If a request to storage takes longer, the leader probes it. */
const LONG_MS = 250;
/** Bound on a probe. */
const PROBE_MS = 1000;

/**
 * Probes storage periodically. A leader whose requests are fast needs no probe. If one takes long, the leader probes without
 * waiting for it: it may never end if the network drops what is sent.
 */
export class StorageWatch {
  readonly #options: StorageWatchOptions;
  readonly #closing = new AbortController();
  #timer: Timer | undefined;
  #probing = false;
  #stalled = false;
  #confirming = false;
  #confirmedMs: number;

  constructor(options: StorageWatchOptions) {
    this.#options = options;
    this.#confirmedMs = options.clock.nowMs();
    this.#lookLater();
  }

  close(): void {
    this.#closing.abort(new Error('closed'));
    this.#timer?.cancel();
  }

  #lookLater(): void {
    this.#timer = this.#options.clock.after(CHECK_MS, () => {
      if (this.#worksWell) this.#options.onHealth(true);
      else if (!this.#probing) void this.#probe();
      this.#reportStall();
      this.#confirmIfDue();
      this.#lookLater();
    });
  }

  get #worksWell(): boolean {
    return this.#options.leads() && this.#options.underWayMs() < LONG_MS;
  }

  #confirmIfDue(): void {
    const { clock, leads, confirm } = this.#options;
    const nowMs = clock.nowMs();
    if (this.#confirming || !leads() || nowMs - this.#confirmedMs < CONFIRM_MS) return;
    this.#confirmedMs = nowMs;
    this.#confirming = true;
    const done = (): void => {
      this.#confirming = false;
    };
    confirm().then(done, done);
  }

  /** Once for each time that storage does not answer. When it has, an append is logged as slow. */
  #reportStall(): void {
    const stalledMs = this.#options.stalledMs();
    if (stalledMs > 0 && !this.#stalled) {
      this.#options.logger.warn(
        { 'since-ms': Math.round(stalledMs) },
        'storage does not answer: writes and linearizable reads wait',
      );
    }
    this.#stalled = stalledMs > 0;
  }

  async #probe(): Promise<void> {
    const { clock, probeStorage, onHealth } = this.#options;
    this.#probing = true;
    let healthy = true;
    try {
      await withDeadline(clock, PROBE_MS, () => new Error('storage is slow'), probeStorage, this.#closing.signal);
    } catch {
      healthy = false;
    }
    this.#probing = false;
    if (!this.#closing.signal.aborted) onHealth(healthy || this.#worksWell);
  }
}

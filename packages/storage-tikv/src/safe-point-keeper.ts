import type { Clock, Logger } from '@engram/core';
import { isTikvError, shiftTimestamp, type Timestamp } from '@engram/tikv-client';
import type { LogSource } from './log-source.ts';

export interface SafePointOptions {
  /** How far back reads remain possible; 0: the safe point is another's affair. */
  readonly retentionMs: number;
  /** How often it is moved. */
  readonly intervalMs: number;
}

export const defaultSafePoint: SafePointOptions = { retentionMs: 3_600_000, intervalMs: 600_000 };

interface Standing {
  readonly safePoint: Timestamp;
  readonly sinceMs: number;
}

/**
 * Moves TiKV's safe point, below which it forgets old versions, where nobody else does: the root of the image, what members
 * need and their Raft states are written again and again. The safe point is one for all who use this TiKV. So the one who moves it
 * is left to it, whether TiDB or another cluster of Engram; only when it has stood still for as long as versions are kept does
 * this node take it up, and leaves it again when it sees that another has moved it. Two who move it cost work, and do no harm: it
 * only grows, and never above what anybody has PD keep.
 *
 * Each cluster has PD keep what it may still read, under a name of its own: the lowest of all such wishes counts.
 */
export class SafePointKeeper {
  readonly #source: LogSource;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #options: SafePointOptions;
  #dueMs = Number.NEGATIVE_INFINITY;
  #standing: Standing | undefined;
  /** Where this node has moved it. */
  #moved: Timestamp | undefined;

  constructor(source: LogSource, prefix: string, clock: Clock, logger: Logger, options: SafePointOptions) {
    this.#source = source;
    this.#name = `engram/${Buffer.from(prefix).toString('hex')}`;
    this.#clock = clock;
    this.#logger = logger;
    this.#options = options;
  }

  /** To be called now and then, in one node of a cluster. Rejects with the client's errors. */
  async keep(signal: AbortSignal): Promise<void> {
    const { retentionMs, intervalMs } = this.#options;
    const nowMs = this.#clock.nowMs();
    if (retentionMs === 0 || nowMs < this.#dueMs) return;
    this.#dueMs = nowMs + intervalMs;
    const { client, timeoutMs } = this.#source;
    const call = { signal, timeoutMs };
    await this.#hold(signal);
    const safePoint = await client.gc.safePoint(call);
    if (safePoint !== this.#moved) {
      this.#moved = undefined;
      if (this.#standing?.safePoint !== safePoint) this.#standing = { safePoint, sinceMs: nowMs };
      if (nowMs - this.#standing.sinceMs < retentionMs) return;
    }
    const result = await client.gc.collect(retentionMs, { signal, timeoutMs: intervalMs });
    this.#moved = result.safePoint;
    this.#logger.info(
      { 'safe-point': String(result.safePoint), 'held-back': result.heldBack, locks: result.resolvedLocks },
      "moved TiKV's safe point",
    );
  }

  /** Longer than until the next time: whoever leads then renews it. */
  async #hold(signal: AbortSignal): Promise<void> {
    const { retentionMs, intervalMs } = this.#options;
    const { client, timeoutMs } = this.#source;
    const call = { signal, timeoutMs };
    const from = shiftTimestamp(await client.timestamp(call), -retentionMs);
    try {
      await client.gc.hold(this.#name, from, Math.ceil((3 * intervalMs) / 1000), call);
    } catch (error) {
      if (!isTikvError(error) || error.code !== 'gc-too-early') throw error;
      this.#logger.warn(
        { from: String(from) },
        'another collects versions of TiKV that are younger than this cluster keeps',
      );
    }
  }
}

import type { Clock, Logger } from '@engram/core';
import { isTikvError } from '@engram/tikv-client';
import { shiftTimestamp, type Timestamp } from '@engram/tso';
import type { LogSource } from '../log/log-source.ts';

export interface SafePointOptions {
  /** How far back reads remain possible. 0: this node never moves the safe point. */
  readonly retentionMs: number;
  /** How often the safe point is moved. */
  readonly intervalMs: number;
}

export const defaultSafePoint: SafePointOptions = { retentionMs: 3_600_000, intervalMs: 600_000 };

interface Standing {
  readonly safePoint: Timestamp;
  readonly sinceMs: number;
}

/**
 * Moves TiKV's safe point if no other process does. TiKV deletes old versions below the safe point. Old versions accumulate,
 * because the image's root, the needs of members and their Raft states are written again and again.
 *
 * All users of this TiKV share one safe point, and TiDB or another cluster of Engram may move it. This node begins to move
 * it only after it has stood still for `retentionMs`, and stops when it sees that another process has moved it. Two processes
 * that move it cost work, but do no harm: the safe point only grows, and never above a hold in PD.
 *
 * Each cluster has a hold in PD, under a name of its own, for the versions that it may still read. The lowest hold counts.
 */
export class SafePointKeeper {
  readonly #source: LogSource;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #options: SafePointOptions;
  #dueMs = Number.NEGATIVE_INFINITY;
  #standing: Standing | undefined;
  /** The safe point that this node has set; undefined if another process has moved it since. */
  #moved: Timestamp | undefined;

  constructor(source: LogSource, prefix: string, clock: Clock, logger: Logger, options: SafePointOptions) {
    this.#source = source;
    this.#name = `engram/${Buffer.from(prefix).toString('hex')}`;
    this.#clock = clock;
    this.#logger = logger;
    this.#options = options;
  }

  /** To be called from time to time, in one node of a cluster. Rejects with the client's errors. */
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

  /** The hold lasts for three intervals, so that the leader of that time renews it before it ends. */
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

import type { Epoch, LogPosition } from '@engram/core';

/**
 * Records that become durable together or not at all. A writer puts whole transactions into it, so no crash can
 * divide one. The records' bytes belong to the storage from `append` on: nobody changes them any more.
 */
export interface LogBatch {
  /** The position of the first record; the others follow without a gap. */
  readonly first: LogPosition;
  readonly records: readonly Uint8Array[];
}

/** All three are ordinary days, so they are values, not exceptions. */
export type AppendOutcome =
  | { readonly kind: 'committed' }
  /** A later epoch has sealed the log: this writer is deposed, and nothing of the batch was written. */
  | { readonly kind: 'fenced' }
  /** The batch is there or it is not; nothing may be appended behind it before that is known. */
  | { readonly kind: 'uncertain'; readonly cause: unknown };

/**
 * The one truth: every change in one order. Contract, checked by `logContract` on every adapter:
 * - `append` is durable (fdatasync or replicated) before `committed`, and all or nothing across a crash at any instant.
 * - Batches are appended one at a time, each at the position after the one before; anything else is an assertion.
 * - After `seal(epoch)` every append of an older epoch is `fenced`, also one that was under way.
 */
export interface Log {
  append(batch: LogBatch, epoch: Epoch): Promise<AppendOutcome>;
  /**
   * All batches from position `from` on, in order and complete up to the end at the time of the call. What is read is
   * verified: a torn end (an append that was never acknowledged) was cut off at opening; any other damage rejects with
   * StorageCorruptError. `from` must not lie below what `dropped` records need: see Values.drop.
   */
  read(from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch>;
  /** Fences every older epoch, and returns the position that the next append takes. */
  seal(epoch: Epoch): Promise<LogPosition>;
}

import type { Epoch, LogPosition } from '@engram/core';

/**
 * Records that become durable together or not at all. A writer puts whole transactions into it, so no crash can
 * divide one. The records' bytes belong to the storage from `append` on: nobody changes them any more.
 */
export interface LogBatch {
  /** The position of the first record; the others follow without a gap. */
  readonly first: LogPosition;
  /** At least one. */
  readonly records: readonly Uint8Array[];
}

/** All three are ordinary days, so they are values, not exceptions. */
export type AppendOutcome =
  | { readonly kind: 'committed' }
  /** A later epoch has sealed the log: this writer is deposed, and nothing of the batch was written. */
  | { readonly kind: 'fenced' }
  /**
   * The batch is there or it is not; nothing may be appended behind it before that is known. `seal` or `read` tell, or
   * they reject with StorageFailedError, as `append` does then: what is there shows when the storage is opened again.
   */
  | { readonly kind: 'uncertain'; readonly cause: unknown };

/**
 * The one truth: every change in one order. Contract, checked by `logContract` on every adapter:
 * - `append` is durable (fdatasync or replicated) before `committed`, and all or nothing across a crash at any instant.
 * - Batches are appended one at a time, each at the position after the one before, with an epoch that has sealed the
 *   log (a new log is sealed by epoch 0); anything else is an assertion.
 * - After `seal(epoch)` every append of an older epoch is `fenced`, also one that was under way: either it was
 *   committed before, and the position that `seal` returned lies behind it, or it is fenced.
 * - After disposal everything rejects with StorageClosedError, also a read that goes on.
 */
export interface Log {
  append(batch: LogBatch, epoch: Epoch): Promise<AppendOutcome>;
  /**
   * All batches from position `from` on, in order and complete up to the end at the time of the call; where `from` is
   * inside a batch, the rest of that one first. What is read is verified: a torn end (an append that was never
   * acknowledged) was cut off at opening; any other damage rejects with StorageCorruptError, as does a log that ends
   * before `from`. `from` must not lie below what `dropped` records need: see Values.drop. Abort rejects with the
   * signal's reason.
   */
  read(from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch>;
  /**
   * Fences every older epoch, durably, and returns the position that the next append takes. With the epoch that sealed
   * last it fences nobody more. With an older one it rejects with StorageFencedError.
   */
  seal(epoch: Epoch): Promise<LogPosition>;
}

import type { LogPosition, Seal } from '@engram/core';

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

/** All are ordinary days, so they are values, not exceptions. */
export type AppendOutcome =
  | { readonly kind: 'committed' }
  /**
   * A later seal holds the log, or the epoch is another holder's: this writer is deposed. Nothing of the batch is in
   * the log, and nothing of it ever will be; see `append` for a batch that a reopened storage is asked for again.
   */
  | { readonly kind: 'fenced' }
  /**
   * The batch is there, or it is not, or it is still on its way; nothing may be appended behind it before that is known.
   * Appending the same batch again settles it, as does a seal: after it the batch is there or never will be. `read` alone
   * does not. An adapter whose own files have failed rejects all three with StorageFailedError: what is there shows when
   * it is opened again.
   */
  | { readonly kind: 'uncertain'; readonly cause: unknown }
  /**
   * A later seal holds the log, so the batch is there or never will be, and who reads on in the log finds out. No adapter
   * answers so: it is for decorators that hear of the seal from whoever holds it, while storage itself does not answer.
   */
  | { readonly kind: 'superseded' };

/**
 * The one truth: every change in one order. Contract, checked by `logContract` on every adapter:
 * - `append` is durable (fdatasync or replicated) before `committed`, and all or nothing across a crash at any instant.
 * - Batches are appended one at a time, each at the position after the one before, with the seal that holds the log (a
 *   new log's is `NEW_LOG_SEAL`); a newer epoch that has not sealed is an assertion, an older one is `fenced`, and so is
 *   the same epoch of another holder.
 * - The batch that was appended last may be appended again, byte for byte and with the same seal: that changes nothing,
 *   and is `committed`, also when a later seal holds the log by then. Where the storage was opened again in between, the
 *   later seal's answer may be `fenced` although the batch is there. A different batch in its place is an assertion, or
 *   `fenced` where a later seal holds the log.
 * - After `seal` every append of an older epoch is `fenced`, also one that was under way: either it was committed before,
 *   and the position that `seal` returned lies behind it, or it is fenced. A `read` that begins after `seal` has resolved
 *   gives every batch that was committed before it.
 * - After disposal everything rejects with StorageClosedError, also a read that goes on. Where the log lies on servers,
 *   `read` and `seal` reject with StorageUnavailableError when these do not answer in time: they may be called again.
 */
export interface Log {
  /** Where the log ends, at least, as far as that is known without asking; undefined: it is not. */
  readonly knownEnd?: LogPosition | undefined;
  append(batch: LogBatch, seal: Seal): Promise<AppendOutcome>;
  /**
   * All batches from position `from` on, in order and complete up to the end at the time of the call; where `from` is
   * inside a batch, the rest of that one first. What is read is verified: a torn end (an append that was never
   * acknowledged) was cut off at opening; any other damage rejects with StorageCorruptError, as does a log that ends
   * before `from`. `from` must not lie below what `dropped` records need: see Values.drop. Abort rejects with the
   * signal's reason.
   */
  read(from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch>;
  /**
   * Fences every older epoch, durably, and returns the position that the next append takes. The seal that holds the log
   * already may be repeated, and fences nobody more. An older epoch, or the same epoch of another holder, rejects with
   * StorageFencedError. The holder is not 0.
   */
  seal(seal: Seal): Promise<LogPosition>;
}

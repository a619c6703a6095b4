import { type LogPosition, logPosition, type Seal, type Span } from '@engram/core';

/**
 * Records that become durable together or not at all. A writer puts whole transactions into a batch, so no crash can
 * divide one. From `append` on, the records' bytes belong to the storage, and the caller must not change them.
 */
export interface LogBatch {
  /** The position of the first record; the others follow without a gap. */
  readonly first: LogPosition;
  /** At least one. */
  readonly records: readonly Uint8Array[];
  /**
   * Only of a log that nodes share: identifies the log up to the end of the batch, where that is known. Two nodes with the same
   * chain at one position have the same log up to there.
   */
  readonly chain?: Uint8Array | undefined;
  /**
   * Only of a batch that was read: its wall-clock mark, in milliseconds since 1970, as the writer of the log knew the time when it
   * appended the batch. Marks never go back along the log. Absent: the batch was written without one, or is a part of one, or was read
   * from a copy that keeps none. For display and for finding a place by its time; nothing may be decided by it. `append` ignores it:
   * the adapter takes the mark (`WallMarks`).
   */
  readonly wallMs?: number | undefined;
  /** Only of a batch that is appended: records the append, if anything does. The adapter may add what it asks of others. */
  readonly span?: Span | undefined;
}

/** The position behind the batch. */
export const endOf = ({ first, records }: LogBatch): LogPosition => logPosition(first + records.length);

/** The part of the batch from the position on, which must be in the batch. Shares the records. A part has no chain. */
export function batchFrom(batch: LogBatch, position: LogPosition): LogBatch {
  if (position === batch.first) return batch;
  return { first: position, records: batch.records.slice(position - batch.first) };
}

/** The bytes of all these records. */
export function recordBytes(records: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const record of records) bytes += record.length;
  return bytes;
}

/** All of these occur in normal operation, so they are values, not exceptions. */
export type AppendOutcome =
  | { readonly kind: 'committed' }
  /**
   * A later seal holds the log, or the epoch is another holder's: this writer is deposed. No record of the batch is in
   * the log or ever will be, however late the writer asks. See the contract of `Log` for the exception after the storage
   * was opened again.
   */
  | { readonly kind: 'fenced' }
  /**
   * The batch is in the log, or it is not, or it is still on its way. Nothing may be appended after it before that is
   * known. Appending the same batch again settles it, and so does a seal: after it the batch is in the log or never
   * will be. `read` alone does not settle it. An adapter whose own files have failed rejects all three with
   * StorageFailedError; opening it again shows what is in the log.
   */
  | { readonly kind: 'uncertain'; readonly cause: unknown }
  /**
   * A later seal holds the log, so the batch is in the log or never will be. A reader of the log finds out which. No
   * adapter returns this outcome. It is for decorators that hear of the seal from its holder while the storage itself
   * does not answer.
   */
  | { readonly kind: 'superseded' }
  /**
   * As `superseded`, but the log was trimmed beyond the batch, so a reader of the log cannot find out either. The writer
   * must not assume anything of the batch: its state is right up to the batch, and `read` from there on rejects with
   * StorageTrimmedError. Only an adapter whose log several nodes share and trim returns this.
   */
  | { readonly kind: 'trimmed' };

/**
 * The source of truth: every change, in one order. `logContract` checks this contract on every adapter:
 * - A batch is durable (fdatasync or replicated) before `append` returns `committed`. A crash at any instant leaves all
 *   of it or nothing.
 * - Batches are appended one at a time, each at the position after the previous batch, with the seal that holds the
 *   log. A new log is held by `NEW_LOG_SEAL`. A newer epoch that has not sealed is an assertion. An older epoch is
 *   `fenced`, and so is the same epoch of another holder.
 * - The last batch may be appended again, byte for byte and with the same seal. That changes nothing and is
 *   `committed`, even if a later seal holds the log by then, or `trimmed`. If the storage was opened again in between,
 *   the answer of an adapter for one node under the later seal may be `fenced` although the batch is in the log. A different batch in its place is an
 *   assertion, or `fenced` if a later seal holds the log.
 * - After `seal`, every append of an older epoch is `fenced` or `trimmed`, after any time, also one that was under way.
 *   Such an append was either committed before, and then the position that `seal` returned is after it, or it is fenced. A `read` that begins
 *   after `seal` has resolved yields every batch that was committed before the seal.
 * - After disposal everything rejects with StorageClosedError, also a read in progress. If the log is on servers,
 *   `read` and `seal` reject with StorageUnavailableError when the servers do not answer in time. The caller may repeat
 *   them.
 */
export interface Log {
  /** The log ends here or later, as far as known without a request. Undefined if nothing is known. */
  readonly knownEnd?: LogPosition | undefined;
  /** Only of a log that nodes share: the chain before the position (see `LogBatch`), if this node has just taken the log up to there. */
  chainAt?(position: LogPosition): Uint8Array | undefined;
  append(batch: LogBatch, seal: Seal): Promise<AppendOutcome>;
  /**
   * All batches from position `from` on, in order, up to the end of the log at the time of the call. If `from` is
   * inside a batch, the rest of that batch comes first. All bytes are verified. A torn end (an append that was never
   * acknowledged) was cut off at opening. Any other damage rejects with StorageCorruptError, and so does a log that
   * ends before `from`. No record from `from` on may have been dropped: see Values.drop. Abort rejects with the
   * signal's reason.
   */
  read(from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch>;
  /**
   * Fences every older epoch, durably, and returns the position that the next append takes. The seal that holds the log
   * already may be repeated, which fences nothing more. An older epoch, or the same epoch of another holder, rejects
   * with StorageFencedError. The holder must not be 0. If the log is on servers whose timestamps went back, StorageTimestampError:
   * nothing was sealed, or the log is sealed and this node must not lead.
   */
  seal(seal: Seal): Promise<LogPosition>;
  /**
   * Whether `seal`, which this opened storage has sealed the log with, held the log at some moment after the call. True proves
   * that no later epoch had committed anything before the call: it seals before it appends. False is final: a later seal
   * holds the log. If the log is on servers, they are asked after the call began, and the call rejects with
   * StorageUnavailableError when they do not answer in time. Abort rejects with the signal's reason. Any number of calls
   * may run at a time, also during appends and seals.
   */
  heldBy(seal: Seal, signal: AbortSignal): Promise<boolean>;
}

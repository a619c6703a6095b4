/** Durable bytes are missing or changed. `what` and `where` name them for the operator. No damaged bytes are skipped. */
export class StorageCorruptError extends Error {
  override readonly name = 'StorageCorruptError';

  constructor(what: string, where: string, options?: ErrorOptions) {
    super(`storage is corrupt: ${what} (${where})`, options);
  }
}

/**
 * The storage cannot be opened as it is: locked by another process, of a newer format, not ours or of another cluster,
 * missing, unfinished (a restore into it has not ended), or not accessible (a directory, or servers that do not answer).
 */
export class StorageOpenError extends Error {
  override readonly name = 'StorageOpenError';
  readonly reason:
    | 'locked'
    | 'newer-format'
    | 'not-ours'
    | 'other-cluster'
    | 'missing'
    | 'unfinished'
    | 'not-accessible';

  constructor(reason: StorageOpenError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** The storage was disposed or has crashed. Open it again. */
export class StorageClosedError extends Error {
  override readonly name = 'StorageClosedError';
}

/**
 * An append has failed, and only opening the storage again shows whether its batch is in the log. Until then the
 * storage gives no information about the end of the log.
 */
export class StorageFailedError extends Error {
  override readonly name = 'StorageFailedError';
}

/**
 * `seal` was called with an older epoch than the log has, or with an epoch of another holder: the caller is deposed
 * already.
 */
export class StorageFencedError extends Error {
  override readonly name = 'StorageFencedError';
}

/** Servers that the storage needs did not answer in time. Nothing is known to be lost; the same call may succeed later. */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
}

/**
 * What this node has taken of a shared log is not what the log holds. Its state must not be used: the node ends. Its copy is
 * given up by then, so its next start begins with the log.
 */
export class StorageDivergedError extends Error {
  override readonly name = 'StorageDivergedError';
}

/**
 * The requested position is before the start of the remaining log, and its record was compacted, so the newest image
 * does not have it either. A node that reads the log there is too far behind and starts again from the image.
 */
export class StorageTrimmedError extends Error {
  override readonly name = 'StorageTrimmedError';
}

/**
 * The timestamps of the servers went back: the newest one is not above the birth of the epoch that holds the log, or it does not
 * show all that the log has. Nothing was sealed. Who led by such timestamps would not see records that were acknowledged. The same
 * call succeeds once timestamps have passed what was written.
 */
export class StorageTimestampError extends Error {
  override readonly name = 'StorageTimestampError';
  /** What the servers allocate now. */
  readonly timestamp: bigint;
  /** The birth of the epoch that holds the log; undefined if its seal does not tell. */
  readonly birth: bigint | undefined;

  constructor(message: string, values: { readonly timestamp: bigint; readonly birth: bigint | undefined }) {
    super(message);
    this.timestamp = values.timestamp;
    this.birth = values.birth;
  }
}

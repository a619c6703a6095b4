/** Bytes that were durable are missing or changed. `what` and `where` name them for the operator; nothing is skipped. */
export class StorageCorruptError extends Error {
  override readonly name = 'StorageCorruptError';

  constructor(what: string, where: string, options?: ErrorOptions) {
    super(`storage is corrupt: ${what} (${where})`, options);
  }
}

/**
 * The storage cannot be opened as it is: locked by another process, of a newer format, not ours or of another cluster, missing, not
 * accessible (a directory, or servers that do not answer).
 */
export class StorageOpenError extends Error {
  override readonly name = 'StorageOpenError';
  readonly reason: 'locked' | 'newer-format' | 'not-ours' | 'other-cluster' | 'missing' | 'not-accessible';

  constructor(reason: StorageOpenError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** It was disposed, or has crashed: open it again. */
export class StorageClosedError extends Error {
  override readonly name = 'StorageClosedError';
}

/**
 * An append has failed in a way that leaves its batch there or not there, which shows only when the storage is opened
 * again: until then it answers nothing about the end of the log.
 */
export class StorageFailedError extends Error {
  override readonly name = 'StorageFailedError';
}

/** `seal` came with an epoch older than the log's, or with one that is another holder's: whoever asks is deposed already. */
export class StorageFencedError extends Error {
  override readonly name = 'StorageFencedError';
}

/** Servers that the storage needs did not answer in time. Nothing is known to be lost; the same call may succeed later. */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
}

/**
 * What is asked for lies before what is left of the log, and the newest image does not have it either: it was compacted. A
 * node that reads the log there is behind, and starts again from the image.
 */
export class StorageTrimmedError extends Error {
  override readonly name = 'StorageTrimmedError';
}

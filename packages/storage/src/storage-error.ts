/** Bytes that were durable are missing or changed. `what` and `where` name them for the operator; nothing is skipped. */
export class StorageCorruptError extends Error {
  override readonly name = 'StorageCorruptError';

  constructor(what: string, where: string, options?: ErrorOptions) {
    super(`storage is corrupt: ${what} (${where})`, options);
  }
}

/** The storage cannot be opened as it is: locked by another process, of a newer format, not ours, not writable. */
export class StorageOpenError extends Error {
  override readonly name = 'StorageOpenError';
  readonly reason: 'locked' | 'newer-format' | 'not-ours' | 'not-accessible';

  constructor(reason: StorageOpenError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

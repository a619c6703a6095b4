import { type Logger, systemErrorCode } from '@engram/core';
import { Lifetime, StorageCorruptError, StorageFailedError } from '@engram/storage';

/** Which storage this is, whether it is open, and whether it may still be written. Shared by all its parts. */
export class Condition {
  readonly path: string;
  readonly logger: Logger;
  readonly lifetime: Lifetime;
  #failure: unknown;
  #failed = false;

  constructor(path: string, logger: Logger) {
    this.path = path;
    this.logger = logger;
    this.lifetime = new Lifetime(`the storage at ${path}`);
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** Throws StorageFailedError after a failed write. */
  check(): void {
    if (!this.#failed) return;
    throw new StorageFailedError(`writing to ${this.path} has failed: it must be opened again`, {
      cause: this.#failure,
    });
  }

  /**
   * Only the next opening shows what a failed write has left. So after the first failure nothing is written any more,
   * and no call returns the end of the log.
   */
  fail(cause: unknown, what: string): StorageFailedError {
    if (!this.#failed) this.logger.error({ path: this.path, err: cause }, `${what} has failed`);
    this.#failed = true;
    this.#failure ??= cause;
    return new StorageFailedError(`${what} has failed, and ${this.path} must be opened again`, { cause });
  }

  corrupt(what: string, cause?: unknown): StorageCorruptError {
    return new StorageCorruptError(what, this.path, cause === undefined ? {} : { cause });
  }

  /**
   * Translates read errors into those of the ports. A disk that cannot return written bytes (EIO) and a missing file
   * (ENOENT) are damage.
   */
  async reading<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (cause) {
      const code = systemErrorCode(cause);
      if (code === 'EIO' || code === 'ENOENT') throw this.corrupt(`the file ${file} cannot be read (${code})`, cause);
      throw cause;
    }
  }
}

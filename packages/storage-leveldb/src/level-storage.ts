import type { AcknowledgedMark, Log, Storage, Values } from '@engram/storage';
import type { Database } from './database.ts';
import type { StateFile } from './state-file.ts';
import type { Usage } from './usage.ts';

export interface LevelStorageParts {
  readonly database: Database;
  readonly stateFile: StateFile;
  readonly mark: AcknowledgedMark;
  readonly usage: Usage;
}

/** Both ports over one open database. */
export class LevelStorage implements Storage {
  readonly log: Log;
  readonly values: Values;
  readonly #parts: LevelStorageParts;
  #closing: Promise<void> | undefined;

  constructor(parts: LevelStorageParts, log: Log, values: Values) {
    this.#parts = parts;
    this.log = log;
    this.values = values;
  }

  /** Waits for running operations, then closes everything. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { database, stateFile, mark, usage } = this.#parts;
    await database.lifetime.end('is closed');
    try {
      await stateFile.update({ usage: usage.snapshot() });
    } catch (error) {
      // Without the update, only an estimate is lost.
      database.logger.warn({ path: database.path, err: error }, 'cannot write the state of the storage');
    }
    await mark.close();
    await database.level.close();
  }
}

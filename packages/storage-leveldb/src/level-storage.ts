import type { Log, Storage, Values } from '@engram/storage';
import type { AcknowledgedMark } from './acknowledged-mark.ts';
import type { Database } from './database.ts';

/** Both ports over one open database. */
export class LevelStorage implements Storage {
  readonly log: Log;
  readonly values: Values;
  readonly #database: Database;
  readonly #acknowledged: AcknowledgedMark;
  #closing: Promise<void> | undefined;

  constructor(database: Database, acknowledged: AcknowledgedMark, log: Log, values: Values) {
    this.#database = database;
    this.#acknowledged = acknowledged;
    this.log = log;
    this.values = values;
  }

  /** Waits for what is under way; then nothing is left open. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#database.lifetime.end('is closed');
    await this.#acknowledged.close();
    await this.#database.level.close();
  }
}

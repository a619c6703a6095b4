import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { assert, type LogPosition } from '@engram/core';
import type { AcknowledgedMark, Checkpoint } from '@engram/storage';
import { readChunks, writeChunks } from './checkpoint-file.ts';
import type { Database } from './database.ts';
import { checkpointFile, syncDirectory } from './files.ts';
import { recordKey } from './record-entry.ts';
import type { State, StateFile } from './state-file.ts';
import type { Usage } from './usage.ts';

/** Positions begin at 1. */
const NO_RECORD = recordKey(0);

interface CheckpointStoreParts {
  readonly database: Database;
  readonly stateFile: StateFile;
  readonly mark: AcknowledgedMark;
  readonly usage: Usage;
}

/** Each checkpoint is a file of its own. It is valid as soon as the state names it. */
export class CheckpointStore {
  readonly #parts: CheckpointStoreParts;
  #saving = false;

  constructor(parts: CheckpointStoreParts) {
    this.#parts = parts;
  }

  /** Where replay begins; 1 without a checkpoint. */
  get from(): LogPosition {
    return this.#current.from;
  }

  get bytes(): number {
    return this.#current.bytes;
  }

  /** `end` is the end of the log. */
  async save(from: LogPosition, end: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    assert(!this.#saving, 'two checkpoints at a time');
    assert(from <= end, 'a checkpoint of what the log has not reached');
    assert(from >= this.from, 'a checkpoint older than the one before');
    this.#parts.database.check();
    this.#saving = true;
    try {
      await this.#save(from, chunks);
    } finally {
      this.#saving = false;
    }
  }

  load(): Checkpoint | undefined {
    const checkpoint = this.#current;
    if (checkpoint.id === 0) return undefined;
    return { from: checkpoint.from, chunks: (signal) => this.#read(checkpoint, signal) };
  }

  get #current(): State['checkpoint'] {
    return this.#parts.stateFile.state.checkpoint;
  }

  async #save(from: LogPosition, source: AsyncIterable<Uint8Array>): Promise<void> {
    const { database, stateFile, mark, usage } = this.#parts;
    const before = this.#current.id;
    const id = before + 1;
    const file = join(database.path, checkpointFile(id));
    let naming = false;
    try {
      const written = await writeChunks(file, source);
      // Before the state names the file, the file's name must be durable.
      await syncDirectory(database.path);
      // This synced write makes earlier, unsynced drops durable: the new checkpoint no longer lists their positions.
      await database.write((writes) => writes.del(NO_RECORD), true);
      naming = true;
      await stateFile.update({ checkpoint: { id, from, ...written }, usage: usage.snapshot() });
    } catch (error) {
      if (!naming || (await this.#nameAgain())) await rm(file, { force: true });
      throw error;
    }
    mark.advance({ checkpoint: id });
    await rm(join(database.path, checkpointFile(before)), { force: true });
  }

  /**
   * After a failed update the state on disk may name the new checkpoint. Writes the old state again. Returns false if that
   * fails, too, so that the file must stay.
   */
  async #nameAgain(): Promise<boolean> {
    const { database, stateFile } = this.#parts;
    try {
      await stateFile.update({});
      return true;
    } catch (error) {
      database.logger.warn({ path: database.path, err: error }, 'cannot write the state of the storage');
      return false;
    }
  }

  async *#read(checkpoint: State['checkpoint'], signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { database } = this.#parts;
    signal.throwIfAborted();
    database.lifetime.check();
    let index = 0;
    for await (const chunk of readChunks(join(database.path, checkpointFile(checkpoint.id)), checkpoint.chunks)) {
      signal.throwIfAborted();
      database.lifetime.check();
      index += 1;
      yield chunk;
    }
    if (index < checkpoint.chunks) {
      const which = `chunk ${index} of ${checkpoint.chunks} of checkpoint ${checkpoint.id}`;
      throw database.corrupt(`${which} is missing or damaged`);
    }
  }
}

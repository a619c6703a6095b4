import { assert, type LogPosition, logPosition } from '@engram/core';
import type { Checkpoint } from '@engram/storage';
import type { AcknowledgedMark } from './acknowledged-mark.ts';
import type { Database } from './database.ts';
import { chunkKey, decodeChunk, decodeNumbers, encodeChunk, encodeNumbers, MANIFEST_KEY } from './layout.ts';

const READ_AHEAD_BYTES = 1 << 20;
const READ_AHEAD_CHUNKS = 16;

/** The checkpoint that is whole. */
export interface Manifest {
  readonly id: number;
  readonly from: LogPosition;
  readonly chunks: number;
  /** The sum of the chunks. */
  readonly bytes: number;
}

const NONE: Manifest = { id: 0, from: logPosition(1), chunks: 0, bytes: 0 };

/**
 * Checkpoints as runs of chunks under ids that ascend; the manifest names the one that counts. Chunks of any other id
 * are left from a save that was interrupted, or not yet removed: nobody reads them, and the next save clears them.
 */
export class CheckpointStore {
  readonly #database: Database;
  readonly #acknowledged: AcknowledgedMark;
  #manifest: Manifest;
  #saving = false;

  constructor(database: Database, acknowledged: AcknowledgedMark, manifest: Manifest | undefined) {
    this.#database = database;
    this.#acknowledged = acknowledged;
    this.#manifest = manifest ?? NONE;
  }

  static async readManifest(database: Database): Promise<Manifest | undefined> {
    const bytes = await database.reading(() => database.level.get(MANIFEST_KEY));
    if (bytes === undefined) return undefined;
    const [id, from, chunks, size] = decodeNumbers(MANIFEST_KEY, bytes) ?? [];
    if (id === undefined || from === undefined || chunks === undefined || size === undefined) {
      throw database.corrupt('the manifest of the checkpoint is damaged');
    }
    return { id, from: logPosition(from), chunks, bytes: size };
  }

  /** Where replay begins, position 1 without a checkpoint. */
  get from(): LogPosition {
    return this.#manifest.from;
  }

  get bytes(): number {
    return this.#manifest.bytes;
  }

  async save(from: LogPosition, end: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    assert(!this.#saving, 'two checkpoints at a time');
    assert(from <= end, 'a checkpoint of what the log has not reached');
    assert(from >= this.#manifest.from, 'a checkpoint older than the one before');
    this.#database.check();
    this.#saving = true;
    try {
      await this.#save(from, chunks);
    } finally {
      this.#saving = false;
    }
  }

  load(): Checkpoint | undefined {
    const manifest = this.#manifest;
    if (manifest === NONE) return undefined;
    return { from: manifest.from, chunks: (signal) => this.#read(manifest, signal) };
  }

  async #save(from: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const before = this.#manifest;
    const id = before.id + 1;
    await this.#clear(id, Number.MAX_SAFE_INTEGER);
    let index = 0;
    let bytes = 0;
    for await (const chunk of chunks) {
      const put = { type: 'put', key: chunkKey(id, index), value: encodeChunk(chunk, id, index) } as const;
      // Synced each: LevelDB does not sync the log that it leaves for a new one, so a manifest that is synced in the
      // new log does not make durable what was written to the old one.
      await this.#database.write([put], true);
      index += 1;
      bytes += chunk.length;
    }
    const value = encodeNumbers(MANIFEST_KEY, [id, from, index, bytes]);
    await this.#database.write([{ type: 'put', key: MANIFEST_KEY, value }], true);
    this.#manifest = { id, from, chunks: index, bytes };
    this.#acknowledged.advance({ checkpoint: id });
    await this.#clear(0, id);
  }

  /** Chunks of the ids from `from` until before `to`. Not synced: what a crash leaves of them, a later save clears. */
  async #clear(from: number, to: number): Promise<void> {
    const { level } = this.#database;
    const keys = level.keys({ gte: chunkKey(from, 0), lt: chunkKey(to, 0) });
    try {
      for (;;) {
        const found = await this.#database.reading(() => keys.nextv(READ_AHEAD_CHUNKS));
        if (found.length === 0) return;
        await this.#database.write(
          found.map((key) => ({ type: 'del', key }) as const),
          false,
        );
      }
    } finally {
      await keys.close();
    }
  }

  async *#read(manifest: Manifest, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { level, lifetime } = this.#database;
    lifetime.check();
    const values = level.values({
      gte: chunkKey(manifest.id, 0),
      lt: chunkKey(manifest.id + 1, 0),
      highWaterMarkBytes: READ_AHEAD_BYTES,
    });
    try {
      let index = 0;
      while (index < manifest.chunks) {
        signal.throwIfAborted();
        const found = await lifetime.run(() => this.#database.reading(() => values.nextv(READ_AHEAD_CHUNKS)));
        if (found.length === 0) throw this.#damage(manifest, index);
        for (const bytes of found) {
          const chunk = decodeChunk(bytes, manifest.id, index);
          if (chunk === undefined) throw this.#damage(manifest, index);
          index += 1;
          signal.throwIfAborted();
          lifetime.check();
          yield chunk;
        }
      }
    } finally {
      await values.close();
    }
  }

  #damage(manifest: Manifest, index: number): Error {
    return this.#database.corrupt(
      `chunk ${index} of ${manifest.chunks} of checkpoint ${manifest.id} is missing or damaged`,
    );
  }
}

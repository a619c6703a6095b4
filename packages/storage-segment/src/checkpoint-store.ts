import { crc32 } from 'node:zlib';
import { assert, type LogPosition } from '@engram/core';
import type { AcknowledgedMark, Checkpoint } from '@engram/storage';
import type { Condition } from './disk/condition.ts';
import { fileName, filePath } from './disk/file-names.ts';
import type { FileSystem, StorageFile } from './disk/file-system.ts';
import { giveBack } from './disk/shorten.ts';
import { type CheckpointNote, checkpointWrite, type Manifest } from './manifest/manifest.ts';
import type { SegmentList } from './segments/segment-list.ts';

// A checkpoint is a file of chunks, each after a header: magic, length, crc. The CRC also covers the id of the
// checkpoint and the chunk's place in it.
const HEADER_BYTES = 12;
const MAGIC = 0x43474e45; // "ENGC"
/** The file is synced after this many bytes, so that appends meanwhile do not wait for all of it at the end. */
const SYNC_BYTES = 2 << 20;
const WRITE_BYTES = 256 << 10;

interface CheckpointStoreParts {
  readonly fileSystem: FileSystem;
  readonly condition: Condition;
  readonly manifest: Manifest;
  readonly acknowledged: AcknowledgedMark;
  /** Their drops become durable with a checkpoint. */
  readonly segments: SegmentList;
}

/** Checkpoints in files of their own; the manifest names the one that counts. */
export class CheckpointStore {
  readonly #parts: CheckpointStoreParts;
  #note: CheckpointNote;
  #saving = false;
  /** How many checkpoints are being read. */
  #readers = 0;

  /** `begin` is where the log begins. */
  constructor(parts: CheckpointStoreParts, note: CheckpointNote | undefined, begin: LogPosition) {
    this.#parts = parts;
    this.#note = note ?? { id: 0, from: begin, chunks: 0, bytes: 0 };
  }

  /** Where replay begins; without a checkpoint, where the log begins. */
  get from(): LogPosition {
    return this.#note.from;
  }

  get bytes(): number {
    return this.#note.bytes;
  }

  /** `end` is the end of the log. */
  async save(from: LogPosition, end: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    assert(!this.#saving, 'two checkpoints at a time');
    assert(from <= end, 'a checkpoint of what the log has not reached');
    assert(from >= this.#note.from, 'a checkpoint older than the one before');
    this.#parts.condition.check();
    this.#saving = true;
    try {
      await this.#save(from, chunks);
    } finally {
      this.#saving = false;
    }
  }

  load(): Checkpoint | undefined {
    const note = this.#note;
    if (note.id === 0) return undefined;
    return { from: note.from, chunks: (signal) => this.#read(note, signal) };
  }

  async #save(from: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const { fileSystem, condition, manifest, acknowledged, segments } = this.#parts;
    const before = this.#note;
    const id = before.id + 1;
    const path = filePath(condition.path, 'ckpt', id);
    let note: CheckpointNote;
    try {
      note = { id, from, ...(await this.#writeChunks(path, id, chunks)) };
      await fileSystem.syncDirectory(condition.path);
    } catch (error) {
      await fileSystem.remove(path).catch(() => {});
      throw error;
    }
    await manifest.change(
      () => [checkpointWrite(note), ...segments.takeDrops()],
      () => {
        this.#note = note;
      },
    );
    acknowledged.advance({ checkpoint: id });
    if (before.id === 0) return;
    try {
      await this.#remove(filePath(condition.path, 'ckpt', before.id));
    } catch (error) {
      condition.logger.warn({ path: condition.path, err: error }, 'cannot remove the checkpoint before');
    }
  }

  async #remove(path: string): Promise<void> {
    const { fileSystem, condition } = this.#parts;
    const file = await fileSystem.open(path, 'update').catch(() => undefined);
    try {
      await fileSystem.remove(path);
    } finally {
      // Without its name nobody begins to read it. One that is being read gives its space back when its reader closes it.
      if (file !== undefined)
        await giveBack(file, () => this.#readers === 0 && !condition.failed && !condition.lifetime.ended);
    }
  }

  async #writeChunks(
    path: string,
    id: number,
    chunks: AsyncIterable<Uint8Array>,
  ): Promise<{ readonly chunks: number; readonly bytes: number }> {
    const file = await this.#parts.fileSystem.open(path, 'create');
    try {
      const writer = new ChunkWriter(file, id);
      for await (const chunk of chunks) await writer.add(chunk);
      return await writer.finish();
    } finally {
      await file.close();
    }
  }

  async *#read(note: CheckpointNote, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    this.#readers += 1;
    try {
      yield* this.#chunks(note, signal);
    } finally {
      this.#readers -= 1;
    }
  }

  async *#chunks(note: CheckpointNote, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { fileSystem, condition } = this.#parts;
    condition.lifetime.check();
    signal.throwIfAborted();
    const name = fileName('ckpt', note.id);
    const file = await condition.lifetime.run(() =>
      condition.reading(name, () => fileSystem.open(filePath(condition.path, 'ckpt', note.id), 'read')),
    );
    try {
      let at = 0;
      for (let index = 0; index < note.chunks; index += 1) {
        signal.throwIfAborted();
        const chunk = await condition.lifetime.run(() =>
          condition.reading(name, () => readChunk(file, at, note.id, index)),
        );
        if (chunk === undefined) {
          throw condition.corrupt(`chunk ${index} of ${note.chunks} of the checkpoint ${name} is missing or damaged`);
        }
        at += HEADER_BYTES + chunk.length;
        signal.throwIfAborted();
        condition.lifetime.check();
        yield chunk;
      }
    } finally {
      await file.close();
    }
  }
}

/** Collects small chunks into larger writes. */
class ChunkWriter {
  readonly #file: StorageFile;
  readonly #id: number;
  #buffer = new Uint8Array(WRITE_BYTES);
  #used = 0;
  #written = 0;
  #synced = 0;
  #chunks = 0;
  #bytes = 0;

  constructor(file: StorageFile, id: number) {
    this.#file = file;
    this.#id = id;
  }

  async add(chunk: Uint8Array): Promise<void> {
    const size = HEADER_BYTES + chunk.length;
    if (this.#used + size > this.#buffer.length) await this.#flush();
    if (size > this.#buffer.length) this.#buffer = new Uint8Array(size);
    const view = new DataView(this.#buffer.buffer, this.#used, HEADER_BYTES);
    view.setUint32(0, MAGIC, true);
    view.setUint32(4, chunk.length, true);
    view.setUint32(8, crc32(chunk, chunkSeed(this.#id, this.#chunks, chunk.length)), true);
    this.#buffer.set(chunk, this.#used + HEADER_BYTES);
    this.#used += size;
    this.#chunks += 1;
    this.#bytes += chunk.length;
  }

  async finish(): Promise<{ readonly chunks: number; readonly bytes: number }> {
    await this.#flush();
    await this.#file.sync();
    return { chunks: this.#chunks, bytes: this.#bytes };
  }

  async #flush(): Promise<void> {
    await this.#file.write(this.#buffer.subarray(0, this.#used), this.#written);
    this.#written += this.#used;
    this.#used = 0;
    if (this.#written - this.#synced < SYNC_BYTES) return;
    await this.#file.sync();
    this.#synced = this.#written;
  }
}

async function readChunk(file: StorageFile, at: number, id: number, index: number): Promise<Uint8Array | undefined> {
  const header = new Uint8Array(HEADER_BYTES);
  await file.read(header, at);
  const view = new DataView(header.buffer);
  const length = view.getUint32(4, true);
  // Checked before memory is allocated: a damaged length may be any number.
  if (view.getUint32(0, true) !== MAGIC || length > (await file.size())) return undefined;
  const chunk = new Uint8Array(length);
  if ((await file.read(chunk, at + HEADER_BYTES)) !== length) return undefined;
  return crc32(chunk, chunkSeed(id, index, length)) === view.getUint32(8, true) ? chunk : undefined;
}

function chunkSeed(id: number, index: number, length: number): number {
  return ((id % 2 ** 32) + Math.imul(index, 0x9e3779b1) + Math.imul(length, 0x85ebca6b)) >>> 0;
}

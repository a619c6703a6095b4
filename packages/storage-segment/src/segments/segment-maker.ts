import type { Random } from '@engram/core';
import type { Condition } from '../disk/condition.ts';
import { filePath } from '../disk/file-names.ts';
import type { FileSystem, StorageFile } from '../disk/file-system.ts';
import { decodeSegmentHeader, encodeSegmentHeader, frameHeaderBytes, SEGMENT_HEADER_BYTES } from '../format/layout.ts';
import { type Manifest, segmentWrite } from '../manifest/manifest.ts';
import { writeZeros } from '../disk/preallocation.ts';
import { RecordTable } from '../format/record-table.ts';
import { Segment } from './segment.ts';

/**
 * Creates segments for appends: complete, durable in their directory, and known to the manifest before anything is
 * written to them.
 */
export class SegmentMaker {
  readonly #fileSystem: FileSystem;
  readonly #condition: Condition;
  readonly #manifest: Manifest;
  readonly #random: Random;
  /** Whether the frames of new segments have wall-clock marks. */
  readonly marked: boolean;
  #nextId: number;

  constructor(
    fileSystem: FileSystem,
    condition: Condition,
    manifest: Manifest,
    random: Random,
    nextId: number,
    marked: boolean,
  ) {
    this.#fileSystem = fileSystem;
    this.#condition = condition;
    this.#manifest = manifest;
    this.#random = random;
    this.#nextId = nextId;
    this.marked = marked;
  }

  takeId(): number {
    const id = this.#nextId;
    this.#nextId += 1;
    return id;
  }

  /** Distinguishes a file's frames from those of all others. */
  newSalt(): number {
    return this.#random.uint32();
  }

  /** `zeroBytes` is the number of zeros after its header. */
  async make(zeroBytes: number): Promise<Segment> {
    const { path } = this.#condition;
    const id = this.takeId();
    const temporary = filePath(path, 'tmp', id);
    const target = filePath(path, 'seg', id);
    const bytes = encodeSegmentHeader(id, this.newSalt(), 'appended', this.marked);
    let file: StorageFile | undefined;
    try {
      await this.#write(temporary, bytes, zeroBytes);
      await this.#fileSystem.rename(temporary, target);
      file = await this.#fileSystem.open(target, 'durable');
      await this.#fileSystem.syncDirectory(path);
    } catch (error) {
      // It is made again while the storage is open, so nothing may be left each time.
      await file?.close();
      for (const name of [temporary, target]) await this.#fileSystem.remove(name).catch(() => {});
      throw error;
    }
    // The manifest comes last: of the segments that it knows, those without records come after all others. If this
    // fails, the next opening shows whether the segment counts.
    try {
      await this.#manifest.change(() => [segmentWrite({ id, kind: 'appended', sealed: undefined })]);
    } catch (error) {
      await file.close();
      throw error;
    }
    const header = decodeSegmentHeader(bytes)!;
    const table = new RecordTable(SEGMENT_HEADER_BYTES, false, frameHeaderBytes(header));
    return new Segment({ header, table, file, sealed: false, chain: header.crc });
  }

  async #write(path: string, header: Uint8Array, zeroBytes: number): Promise<void> {
    const file = await this.#fileSystem.open(path, 'create');
    try {
      await file.write(header, 0);
      await writeZeros(file, header.length, header.length + zeroBytes);
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

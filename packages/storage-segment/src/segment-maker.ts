import { randomBytes } from 'node:crypto';
import type { Condition } from './condition.ts';
import { filePath } from './file-names.ts';
import type { FileSystem } from './file-system.ts';
import { decodeSegmentHeader, encodeSegmentHeader, SEGMENT_HEADER_BYTES } from './layout.ts';
import { type Manifest, segmentWrite } from './manifest.ts';
import { RecordTable } from './record-table.ts';
import { Segment } from './segment.ts';

/** Makes segments to append to: whole, durable in their directory and known to the manifest before anything is in. */
export class SegmentMaker {
  readonly #fileSystem: FileSystem;
  readonly #condition: Condition;
  readonly #manifest: Manifest;
  #nextId: number;

  constructor(fileSystem: FileSystem, condition: Condition, manifest: Manifest, nextId: number) {
    this.#fileSystem = fileSystem;
    this.#condition = condition;
    this.#manifest = manifest;
    this.#nextId = nextId;
  }

  takeId(): number {
    const id = this.#nextId;
    this.#nextId += 1;
    return id;
  }

  /** With this many bytes of zeros behind its header. */
  async make(zeroBytes: number): Promise<Segment> {
    const { path } = this.#condition;
    const id = this.takeId();
    const target = filePath(path, 'seg', id);
    const bytes = encodeSegmentHeader(id, newSalt(), 'appended');
    const made = await this.#fileSystem.open(filePath(path, 'tmp', id), 'create');
    try {
      await made.write(bytes, 0);
      if (zeroBytes > 0) await made.write(new Uint8Array(zeroBytes), bytes.length);
      await made.sync();
    } finally {
      await made.close();
    }
    await this.#fileSystem.rename(filePath(path, 'tmp', id), target);
    await this.#fileSystem.syncDirectory(path);
    await this.#manifest.change(() => [segmentWrite({ id, kind: 'appended', sealed: undefined })]);
    const file = await this.#fileSystem.open(target, 'durable');
    const header = decodeSegmentHeader(bytes)!;
    const table = new RecordTable(SEGMENT_HEADER_BYTES, false);
    return new Segment({ header, table, file, sealed: false, chain: header.crc });
  }
}

/** Tells this file's frames from those of all others. */
export function newSalt(): number {
  return randomBytes(4).readUInt32LE();
}

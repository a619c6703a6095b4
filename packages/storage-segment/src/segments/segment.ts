import { assert } from '@engram/core';
import { DeadRecords } from '../format/dead-records.ts';
import type { StorageFile } from '../disk/file-system.ts';
import { SEGMENT_HEADER_BYTES, type SegmentHeader } from '../format/layout.ts';
import type { RecordTable } from '../format/record-table.ts';

/**
 * An open segment file. Readers pin it, so that a segment that the cleaner has replaced keeps its file until the last
 * read is done.
 */
export class Segment {
  readonly header: SegmentHeader;
  readonly table: RecordTable;
  readonly dead: DeadRecords;
  readonly file: StorageFile;
  /** Nothing is appended to the segment any more, and the manifest says so. */
  sealed: boolean;
  /** The CRC of the last frame's header, which is the `previous` of the next. */
  chain: number;
  /** A record is damaged, so the cleaner leaves the segment as it is. */
  damaged = false;
  #pins = 0;
  #retired = false;
  readonly #closed: Promise<void>;
  #setClosed = (): void => {};
  #closing = false;

  constructor(parts: {
    header: SegmentHeader;
    table: RecordTable;
    file: StorageFile;
    sealed: boolean;
    chain: number;
    dead?: DeadRecords | undefined;
  }) {
    this.header = parts.header;
    this.table = parts.table;
    this.file = parts.file;
    this.sealed = parts.sealed;
    this.chain = parts.chain;
    this.dead = parts.dead ?? new DeadRecords();
    this.#closed = new Promise((resolve) => {
      this.#setClosed = resolve;
    });
  }

  get id(): number {
    return this.header.id;
  }

  /** The file's length without what is reserved after the last frame. */
  get bytes(): number {
    return this.table.end;
  }

  /** The bytes of the records that were not dropped, with their headers. */
  get liveBytes(): number {
    return this.table.recordBytes(SEGMENT_HEADER_BYTES) - this.dead.bytes;
  }

  /** Somebody reads it. */
  get pinned(): boolean {
    return this.#pins > 0;
  }

  pin(): void {
    assert(!this.#retired, 'a segment that is replaced is read anew');
    this.#pins += 1;
  }

  unpin(): void {
    this.#pins -= 1;
    if (this.#retired && this.#pins === 0) void this.close();
  }

  /** Call it when the segment was replaced. Resolves when the last reader has unpinned it and its file is closed. */
  retire(): Promise<void> {
    this.#retired = true;
    if (this.#pins === 0) void this.close();
    return this.#closed;
  }

  /**
   * Closes the file at the end, even if a read has stopped half way. If that read continues, it gets the storage's
   * closed error.
   */
  close(): Promise<void> {
    if (!this.#closing) {
      this.#closing = true;
      // The file was only read, so nothing depends on whether it closes.
      void this.file.close().then(this.#setClosed, this.#setClosed);
    }
    return this.#closed;
  }
}

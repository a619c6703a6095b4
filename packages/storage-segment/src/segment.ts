import { assert } from '@engram/core';
import { DeadRecords } from './dead-records.ts';
import type { StorageFile } from './file-system.ts';
import { SEGMENT_HEADER_BYTES, type SegmentHeader } from './layout.ts';
import type { RecordTable } from './record-table.ts';

/**
 * One segment file that is open. Whoever reads pins it, so that a segment which the cleaner has replaced keeps its file
 * until the last read of it is done.
 */
export class Segment {
  readonly header: SegmentHeader;
  readonly table: RecordTable;
  readonly dead: DeadRecords;
  readonly file: StorageFile;
  /** Nothing is appended any more, and the manifest says so. */
  sealed: boolean;
  /** The CRC of the last frame's header: the `previous` of the next. */
  chain: number;
  /** A record in it is damaged: the cleaner leaves it as it is. */
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

  /** Of the file, without what is reserved behind the last frame. */
  get bytes(): number {
    return this.table.end;
  }

  /** Of the records that were not dropped, with their headers. */
  get liveBytes(): number {
    return this.table.recordBytes(SEGMENT_HEADER_BYTES) - this.dead.bytes;
  }

  pin(): void {
    assert(!this.#retired, 'a segment that is replaced is read anew');
    this.#pins += 1;
  }

  unpin(): void {
    this.#pins -= 1;
    if (this.#retired && this.#pins === 0) void this.close();
  }

  /** It was replaced: it closes as soon as nobody reads it. Resolves then. */
  retire(): Promise<void> {
    this.#retired = true;
    if (this.#pins === 0) void this.close();
    return this.#closed;
  }

  /** At the end, also where a read has stopped half way: when that goes on, the storage's end is its answer. */
  close(): Promise<void> {
    if (!this.#closing) {
      this.#closing = true;
      // A file that cannot be closed was only read: nothing depends on it any more.
      void this.file.close().then(this.#setClosed, this.#setClosed);
    }
    return this.#closed;
  }
}

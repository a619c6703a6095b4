/** How a file is opened. Except for 'create', the file must exist. */
export type OpenMode =
  /** Empty: an existing file is truncated. For reading and writing. */
  | 'create'
  | 'read'
  /** For reading and writing. Writes are durable after `sync`. */
  | 'update'
  /** For reading and writing. A write resolves when its bytes are durable (O_DSYNC). */
  | 'durable';

/** The operations on an open file. Offsets and lengths are in bytes. */
export interface StorageFile {
  size(): Promise<number>;
  /**
   * Fills `target` from `offset` on, with fewer bytes only at the file's end. Returns the number of bytes read.
   * `inline` allows the call to block the process.
   */
  read(target: Uint8Array, offset: number, inline?: boolean): Promise<number>;
  /** As `read`, but returns when it is done. Blocks the process. */
  readNow(target: Uint8Array, offset: number): number;
  /**
   * Writes everything, or rejects: then any part may be in the file, now or after a crash. `inline` allows the call to
   * block the process.
   */
  write(bytes: Uint8Array, offset: number, inline?: boolean): Promise<void>;
  truncate(length: number): Promise<void>;
  /** Makes the written bytes and the file's length durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A part of a file to read. */
export interface ByteRange {
  readonly file: StorageFile;
  readonly offset: number;
  readonly length: number;
}

/** Makes many small reads cost no more than one. */
export interface BulkReader {
  /** Whether the reader can be used now. The first access starts its preparation. */
  readonly ready: boolean;
  /**
   * Reads the places and calls `use` once with all their bytes in sequence. The bytes are its own until the promise that it returns
   * has settled, or until it returns. Then the read resolves with the milliseconds that reading took. Rejects if one place cannot be
   * read in whole, and after `close`; then read the places one by one. A system returns what lies before a bad sector, and no error.
   */
  read(places: readonly ByteRange[], use: (bytes: Uint8Array) => void | Promise<void>): Promise<number>;
  /** Waits for reads that are under way. */
  close(): Promise<void>;
}

/**
 * The operations of a file system that this storage needs, so that a test can lose, tear and damage bytes that are not
 * durable. Errors are those of the system, with its `code`. A new name, a rename and a removal are durable once
 * `syncDirectory` has resolved. A removed file stays readable for readers that have it open.
 */
export interface FileSystem {
  /** The names in the directory, in any order. */
  list(directory: string): Promise<readonly string[]>;
  /**
   * Creates the directory and its parents if they are missing. When it resolves, the names of all of them are durable,
   * also of those that were there, as far as this process may open the directories above them.
   */
  makeDirectory(directory: string): Promise<void>;
  open(path: string, mode: OpenMode): Promise<StorageFile>;
  /** Within one directory. Replaces a file of the new name. A directory replaces only an empty one. */
  rename(from: string, to: string): Promise<void>;
  /** No effect if there is no such file. */
  remove(path: string): Promise<void>;
  /** Removes the directory with the files in it. No effect if there is none. */
  removeDirectory(directory: string): Promise<void>;
  syncDirectory(directory: string): Promise<void>;
  /** How often reads had to wait for the disk since the process began. */
  diskReads(): number;
  /** Reads files that were opened here. */
  bulkReader(): BulkReader;
}

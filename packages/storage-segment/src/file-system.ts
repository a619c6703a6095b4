/** How a file is opened. All but 'create' want it to be there. */
export type OpenMode =
  /** Empty: what was under the name is cut off. For reading and writing. */
  | 'create'
  | 'read'
  /** For reading and writing; what is written is durable after `sync`. */
  | 'update'
  /** For reading and writing; a write resolves when its bytes are durable (O_DSYNC). */
  | 'durable';

/** What segment files need of an open file. Offsets and lengths in bytes. */
export interface StorageFile {
  size(): Promise<number>;
  /**
   * Fills `target` from `offset` on; fewer bytes only where the file ends. Returns how many. `inline` allows that the
   * process does nothing else meanwhile.
   */
  read(target: Uint8Array, offset: number, inline?: boolean): Promise<number>;
  /**
   * All of it, or it rejects: then any part of it may be there, now or after a crash. `inline` allows that the process
   * does nothing else meanwhile.
   */
  write(bytes: Uint8Array, offset: number, inline?: boolean): Promise<void>;
  truncate(length: number): Promise<void>;
  /** What was written, and the length, are durable after it. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A part of a file that is wanted. */
export interface Place {
  readonly file: StorageFile;
  readonly offset: number;
  readonly length: number;
}

/** Makes many small reads cost no more than one. */
export interface BulkReader {
  /** It may be used. Asked for the first time, it begins to get ready. */
  readonly ready: boolean;
  /**
   * Reads the places one behind the other, and calls `use` once with all their bytes, which are its own until it
   * returns. Where a file ends before, any bytes stand for what is missing. Resolves with the milliseconds that reading
   * took. Rejects where one cannot be read, and after `close`; then the places are read one by one.
   */
  read(places: readonly Place[], use: (bytes: Uint8Array) => void): Promise<number>;
  close(): Promise<void>;
}

/**
 * The operations of a file system that this storage is built from, so that a test can lose, tear and damage what is
 * not durable. Errors are those of the system, with its `code`. A new name, a rename and a removal are durable when
 * `syncDirectory` has resolved; a file that is removed stays readable for those who have it open.
 */
export interface FileSystem {
  /** The names in the directory, in any order. */
  list(directory: string): Promise<readonly string[]>;
  /** With its parents, where they are missing. */
  makeDirectory(directory: string): Promise<void>;
  open(path: string, mode: OpenMode): Promise<StorageFile>;
  /** Replaces what is under the new name. */
  rename(from: string, to: string): Promise<void>;
  /** Of what is not there: nothing. */
  remove(path: string): Promise<void>;
  syncDirectory(directory: string): Promise<void>;
  /** How often reading has had to wait for the disk, since the process began: it grows where it did. */
  diskReads(): number;
  /** For files that were opened here. */
  bulkReader(): BulkReader;
}

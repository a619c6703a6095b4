/** `value` undefined takes the key away. */
export interface MetaWrite {
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

/** The little that must change atomically: an ordered map on disk, held exclusively until it is closed. */
export interface Meta {
  /** Everything, in the order of the keys. */
  entries(): Promise<readonly (readonly [key: Uint8Array, value: Uint8Array])[]>;
  /** All or nothing, and durable. After a rejection it is there or not there, and nothing more may be written. */
  write(writes: readonly MetaWrite[]): Promise<void>;
  close(): Promise<void>;
}

/** An undefined `value` removes the key. */
export interface MetaWrite {
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

/** A small ordered map on disk whose changes are atomic. Held exclusively until it is closed. */
export interface Meta {
  /** All entries in the order of their keys. */
  entries(): Promise<readonly (readonly [key: Uint8Array, value: Uint8Array])[]>;
  /** All or nothing, and durable. After a rejection the outcome is unknown, and nothing more may be written. */
  write(writes: readonly MetaWrite[]): Promise<void>;
  close(): Promise<void>;
}

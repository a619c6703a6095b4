/** A living key, whatever it was read from. The bytes are valid until the next one is asked for. */
export interface StoredKey {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly createRevision: number;
  readonly modRevision: number;
  /** Changes since it was created, 1 at least. */
  readonly version: number;
  readonly lease: bigint;
}

/** A change of the history that is not the newest of its key, or is a deletion. Only files have them. */
export interface OldVersion {
  readonly key: Uint8Array;
  readonly valueBytes: number;
  readonly deletion: boolean;
}

/** A page of what a store holds, in any order. */
export interface StoredPage {
  readonly keys: readonly StoredKey[];
  readonly old: readonly OldVersion[];
}

/** What can be inspected: a live store, or a file. */
export interface StoreContent {
  /** For the operator: an endpoint, or a path. */
  readonly name: string;
  /** The revision at which it is read. */
  readonly revision: number;
  readonly compactRevision: number | undefined;
  /** May be read once. A page at a time is held. */
  readonly pages: AsyncIterable<StoredPage>;
}

/** One consistent image of the store, as a file. */
export interface SnapshotImage {
  /** The sum of all chunks; a multiple of 512. */
  readonly bytes: number;
  /** May be taken once; given up, it lets go of what it holds. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Makes images of the store for `etcdctl snapshot save`. */
export interface SnapshotSource {
  open(signal: AbortSignal): Promise<SnapshotImage>;
}

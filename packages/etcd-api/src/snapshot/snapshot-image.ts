/** A file of known length. Given up, `chunks` lets go of what it holds. */
export interface SnapshotImage {
  /** The sum of all chunks; a multiple of 512. */
  readonly bytes: number;
  /** Taken once. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

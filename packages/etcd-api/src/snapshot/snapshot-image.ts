/** A file of known length. Ending the iteration of `chunks` early releases what they hold. */
export interface SnapshotImage {
  /** The sum of all chunks; a multiple of 512. */
  readonly bytes: number;
  /** May be iterated once. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

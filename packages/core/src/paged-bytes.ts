/**
 * Many stretches of bytes in order, of which only a part is in memory at a time. Their lengths are known from the
 * start. A reader reads them once, from the first to the last. The reader disposes of them when it has read all or
 * stops early.
 */
export interface PagedBytes extends Disposable {
  readonly length: number;
  /** The length of all stretches together. */
  readonly bytes: number;
  /** About how much memory the list takes now. */
  readonly heldBytes: number;
  lengthOf(index: number): number;
  /** The length of all stretches that were brought so far, from the first on. */
  readonly broughtBytes: number;
  /**
   * Brings the stretches that follow, until `broughtBytes` is at least `bytes` or all are there. Stretches before index
   * `from` are released. Undefined if the stretches are there on return. Rejects if the bytes are no longer available.
   * A call during a running one may return the same promise, so a reader that has waited calls it again.
   */
  bring(from: number, bytes: number): Promise<void> | undefined;
  /** A stretch that was brought. The view is shared and must not be changed. */
  view(index: number): Uint8Array;
}

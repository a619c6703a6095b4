/**
 * Many stretches of bytes in order, of which only a part is in memory at a time. Their lengths are known from the start.
 * It is read once, from the first to the last. Whoever reads it disposes of it: when all is read, or when nobody will.
 */
export interface PagedBytes extends Disposable {
  readonly length: number;
  /** The length of all stretches together. */
  readonly bytes: number;
  /** What it takes of memory now, about. */
  readonly heldBytes: number;
  lengthOf(index: number): number;
  /** Of those that have been brought so far, from the first on. */
  readonly broughtBytes: number;
  /**
   * Brings more of them, behind those that were brought, until `broughtBytes` is at least `bytes` or all are there. Those
   * before `from` are not needed any more. Undefined: it is done. Rejects where they cannot be had any more. Called again before it has resolved it may return the same promise: whoever has
   * waited asks once more.
   */
  bring(from: number, end: number): Promise<void> | undefined;
  /** One that was brought. A view, shared: not to be changed. */
  view(index: number): Uint8Array;
}

/** Room for the answers of one tick of a busy connection. Output in two slabs needs a `writev`, which costs more. */
export const SLAB_BYTES = 32 * 1024;

/**
 * Room for the answers of one tick of a connection with few requests. Where a thousand clients wait for one answer each,
 * the answers of one append are in several hundred slabs at once.
 */
export const SHORT_SLAB_BYTES = 4 * 1024;

/** Slabs that an idle server keeps: 4 MiB of each kind. More are allocated and released with the load. */
const keptMax = 128;
const shortKeptMax = 1024;

/** Buffers that connections write their frames into and return when the kernel has taken them. */
export class SlabPool {
  readonly #free: Buffer[] = [];
  readonly #freeShort: Buffer[] = [];

  /** A slab of SLAB_BYTES. Its owner gives it back. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(SLAB_BYTES);
  }

  /** A slab of SHORT_SLAB_BYTES. Its owner gives it back. */
  takeShort(): Buffer {
    return this.#freeShort.pop() ?? Buffer.allocUnsafeSlow(SHORT_SLAB_BYTES);
  }

  give(slab: Buffer): void {
    if (slab.length === SLAB_BYTES) {
      if (this.#free.length < keptMax) this.#free.push(slab);
    } else if (this.#freeShort.length < shortKeptMax) this.#freeShort.push(slab);
  }
}

/** Room for the answers of one tick of a busy connection. Output in two slabs needs a `writev`, which costs more. */
export const SLAB_BYTES = 32 * 1024;

/** Slabs that an idle server keeps. More are allocated and released with the load. */
const keptMax = 128;

/** Buffers that connections write their frames into and return when the kernel has taken them. */
export class SlabPool {
  readonly #free: Buffer[] = [];

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(SLAB_BYTES);
  }

  give(slab: Buffer): void {
    if (this.#free.length < keptMax) this.#free.push(slab);
  }
}

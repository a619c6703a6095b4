const SLAB_BYTES = 64 * 1024;
/** A longer record gets its own buffer: it would leave too much of a slab's end unused. */
const SHARED_BYTES_MAX = 4 * 1024;

let slab = new ArrayBuffer(0);
let at = 0;

/**
 * Returns zeroed bytes for one record of the write path. An allocation for each record costs 0.9 of the 1.2 us of
 * encoding 600 bytes, and half of the garbage collector's work. So short records share slabs. The records of one slab are
 * written, cached and forgotten at about the same time. A caller that keeps a record longer must copy it, because the
 * record keeps its whole slab alive.
 */
export function allocateRecord(bytes: number): Uint8Array {
  if (bytes > SHARED_BYTES_MAX) return new Uint8Array(bytes);
  if (slab.byteLength - at < bytes) {
    slab = new ArrayBuffer(SLAB_BYTES);
    at = 0;
  }
  const record = new Uint8Array(slab, at, bytes);
  // The next record begins at a multiple of 8, where copying is fastest.
  at = (at + bytes + 7) & ~7;
  return record;
}

/*
 * A 64-bit bigint and its halves are views of the same eight bytes, because shifts and masks would allocate bigints. A
 * caller must read the other view directly after writing one, because all callers share the bytes.
 */
const bytes = new ArrayBuffer(8);
export const unsigned64 = new BigUint64Array(bytes);
export const signed64 = new BigInt64Array(bytes);
export const halves = new Uint32Array(bytes);

// The indexes of the lower and the upper half in `halves`.
export const LOW = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 0 : 1;
export const HIGH = 1 - LOW;

const TWO_63 = 2 ** 63;

/** The nearest int64 to any integer, Infinity included. */
export function toInt64(value: number): bigint {
  if (value >= TWO_63) return 0x7fff_ffff_ffff_ffffn;
  return value <= -TWO_63 ? -0x8000_0000_0000_0000n : BigInt(value);
}

/** The nearest uint64 to any integer of at least 0, Infinity included. */
export function toUint64(value: number): bigint {
  return value >= 2 * TWO_63 ? 0xffff_ffff_ffff_ffffn : BigInt(value);
}

/** Length in bytes of the 64 bits in `halves` as a varint. */
export function sizeHalves(): number {
  const high = halves[HIGH]!;
  const bits = high === 0 ? 32 - Math.clz32(halves[LOW]! | 1) : 64 - Math.clz32(high);
  return Math.ceil(bits / 7);
}

/** Writes the 64 bits in `halves` as a varint. Returns the position after the written bytes. */
export function writeHalves(into: Uint8Array, at: number): number {
  let low = halves[LOW]!;
  let high = halves[HIGH]!;
  let next = at;
  while (high > 0) {
    into[next] = (low & 0x7f) | 0x80;
    low = ((low >>> 7) | (high << 25)) >>> 0;
    high >>>= 7;
    next += 1;
  }
  while (low >= 0x80) {
    into[next] = (low & 0x7f) | 0x80;
    low >>>= 7;
    next += 1;
  }
  into[next] = low;
  return next + 1;
}

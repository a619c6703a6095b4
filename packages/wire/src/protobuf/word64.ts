/*
 * A bigint of 64 bits and its halves are views of the same eight bytes: shifts and masks would make a bigint each.
 * Whoever writes one view reads the other at once.
 */
const bytes = new ArrayBuffer(8);
export const unsigned64 = new BigUint64Array(bytes);
export const signed64 = new BigInt64Array(bytes);
export const halves = new Uint32Array(bytes);

/** Where the lower and the upper half stand in `halves`. */
export const LOW = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 0 : 1;
export const HIGH = 1 - LOW;

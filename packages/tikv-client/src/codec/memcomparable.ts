import { TikvError } from '../errors.ts';

const GROUP = 8;
const MARKER_FULL = 0xff;

/**
 * The order-preserving encoding of keys in PD and in regions' bounds (TiKV components/codec, "memcomparable"): groups of
 * eight bytes, each followed by 0xff minus the number of padding bytes in it.
 */
export function encodeMemcomparable(key: Uint8Array): Uint8Array {
  const groups = Math.floor(key.length / GROUP) + 1;
  const encoded = new Uint8Array(groups * (GROUP + 1));
  for (let group = 0; group < groups; group += 1) {
    const from = group * GROUP;
    const size = Math.min(GROUP, key.length - from);
    encoded.set(key.subarray(from, from + size), group * (GROUP + 1));
    encoded[group * (GROUP + 1) + GROUP] = MARKER_FULL - (GROUP - size);
  }
  return encoded;
}

/** The inverse. Throws TikvError `corrupt-key` for bytes that no key encodes to: such a bound must not route requests. */
export function decodeMemcomparable(encoded: Uint8Array): Uint8Array {
  const key = new Uint8Array(encoded.length);
  let length = 0;
  for (let from = 0; ; from += GROUP + 1) {
    if (encoded.length < from + GROUP + 1) throw corrupt(encoded, 'a group is cut short');
    const pad = MARKER_FULL - encoded[from + GROUP]!;
    if (pad > GROUP) throw corrupt(encoded, 'a marker is out of range');
    const size = GROUP - pad;
    key.set(encoded.subarray(from, from + size), length);
    length += size;
    if (pad === 0) continue;
    for (let at = from + size; at < from + GROUP; at += 1) {
      if (encoded[at] !== 0) throw corrupt(encoded, 'padding is not zero');
    }
    if (encoded.length !== from + GROUP + 1) throw corrupt(encoded, 'bytes follow the last group');
    return key.slice(0, length);
  }
}

function corrupt(encoded: Uint8Array, why: string): TikvError {
  return new TikvError('corrupt-key', `${why}: ${Buffer.from(encoded).toString('hex')}`);
}

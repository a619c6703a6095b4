export const EMPTY_BYTES: Uint8Array = new Uint8Array(0);

/** Byte order, as etcd orders keys. A plain loop: keys are short, and a native call costs more than the comparison. */
export function compareBytes(left: Uint8Array, right: Uint8Array): number {
  // biome-ignore lint/complexity/useMathMinMax: in the search of the index a call is not always compiled away
  const common = left.length < right.length ? left.length : right.length;
  for (let at = 0; at < common; at += 1) {
    const difference = left[at]! - right[at]!;
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at += 1) {
    if (left[at] !== right[at]) return false;
  }
  return true;
}

/** A string with one character for each byte, so that bytes can be the key of a Map. Lossless. */
export function keyText(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
}

/** The inverse of `keyText`. The caller owns the bytes. */
export function keyBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'));
}

/** The smallest key above `key`: where the page after one that ended at `key` begins. */
export function keySuccessor(key: Uint8Array): Uint8Array {
  const successor = new Uint8Array(key.length + 1);
  successor.set(key);
  return successor;
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

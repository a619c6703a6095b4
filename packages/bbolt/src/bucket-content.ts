/**
 * The content of a bucket: entries in the byte order of their keys. Keys and lengths are there at once, values are read
 * when needed.
 */
export interface BucketContent {
  readonly name: Uint8Array;
  readonly count: number;
  keyBytes(at: number): number;
  /** Writes the key into `into`, from `offset` on. */
  putKey(at: number, into: Uint8Array, offset: number): void;
  valueBytes(at: number): number;
  /** The values of the entries in [from, to). */
  values(from: number, to: number, signal: AbortSignal): Promise<readonly Uint8Array[]>;
}

/** A bucket that fits into memory. The entries are sorted here. */
export function smallBucket(
  name: Uint8Array,
  entries: readonly (readonly [key: Uint8Array, value: Uint8Array])[],
): BucketContent {
  const sorted = entries.toSorted(([left], [right]) => Buffer.compare(left, right));
  return {
    name,
    count: sorted.length,
    keyBytes: (at) => sorted[at]![0].length,
    putKey: (at, into, offset) => into.set(sorted[at]![0], offset),
    valueBytes: (at) => sorted[at]![1].length,
    values: async (from, to) => sorted.slice(from, to).map(([, value]) => value),
  };
}

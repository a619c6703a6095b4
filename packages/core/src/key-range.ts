import { compareBytes, EMPTY_BYTES, equalBytes } from './bytes.ts';

/**
 * A range as etcd's clients send it (etcd api/v3 rpc.proto, RangeRequest.range_end). An empty `end` means exactly
 * `key`; a single zero byte means every key from `key` on; otherwise the range is [key, end).
 */
export interface KeyRange {
  readonly key: Uint8Array;
  readonly end: Uint8Array;
}

const ZERO = Uint8Array.of(0);

export const pointRange = (key: Uint8Array): KeyRange => ({ key, end: EMPTY_BYTES });

/**
 * All keys that begin with `prefix`, as clients build the range: the last byte that is not 0xff is incremented, and the
 * bytes after it are cut off.
 */
export function prefixRange(prefix: Uint8Array): KeyRange {
  for (let at = prefix.length - 1; at >= 0; at -= 1) {
    if (prefix[at]! < 0xff) {
      const end = prefix.slice(0, at + 1);
      end[at] = prefix[at]! + 1;
      return { key: prefix, end };
    }
  }
  return { key: prefix.length === 0 ? ZERO : prefix, end: ZERO };
}

export const isPoint = (range: KeyRange): boolean => range.end.length === 0;
export const isUnbounded = (range: KeyRange): boolean => range.end.length === 1 && range.end[0] === 0;

/** Whether no key can be in the range: its lower bound is at or above its upper bound. */
export function isEmptyRange(range: KeyRange): boolean {
  return !isPoint(range) && !isUnbounded(range) && compareBytes(range.key, range.end) >= 0;
}

export function rangeContains(range: KeyRange, key: Uint8Array): boolean {
  if (isPoint(range)) return equalBytes(range.key, key);
  return compareBytes(range.key, key) <= 0 && (isUnbounded(range) || compareBytes(key, range.end) < 0);
}

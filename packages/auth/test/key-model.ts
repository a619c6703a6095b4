import fc from 'fast-check';
import { compareBytes, isPoint, isUnbounded, type KeyRange, keySuccessor, rangeContains } from '@engram/core';

/**
 * A naive model of what ranges hold: key by key. A gap in what some ranges hold begins at the end of one of them, right
 * behind one of their keys, or where the asked range begins; so these keys, and one that is above all others, are enough
 * to find every gap.
 */
export function heldKeyByKey(held: readonly KeyRange[], asked: KeyRange): boolean {
  const isHeld = (key: Uint8Array): boolean => key.length > 0 && held.some((range) => grants(range, key));
  if (!isHeld(asked.key)) return false;
  return gapCandidates(held)
    .filter((key) => rangeContains(asked, key))
    .every(isHeld);
}

const grants = (range: KeyRange, key: Uint8Array): boolean => range.key.length > 0 && rangeContains(range, key);

const HIGHEST = new Uint8Array(8).fill(0xff);

const gapCandidates = (held: readonly KeyRange[]): Uint8Array[] => [
  HIGHEST,
  ...held.map((range) => (isPoint(range) ? keySuccessor(range.key) : isUnbounded(range) ? HIGHEST : range.end)),
];

/** Few short keys, so that ranges touch, overlap and leave gaps. */
export const keys = fc
  .array(fc.constantFrom(0, 1, 0x61, 0xff), { maxLength: 2 })
  .map((bytes) => Uint8Array.from(bytes));

/** Also reversed, empty, and open ones. */
export const keyRanges: fc.Arbitrary<KeyRange> = fc.record({ key: keys, end: keys });

/** In the order of their bounds, as a role may have them. */
export const grantableRanges: fc.Arbitrary<KeyRange> = keyRanges.filter(
  (range) => range.key.length > 0 && (isPoint(range) || isUnbounded(range) || compareBytes(range.key, range.end) < 0),
);

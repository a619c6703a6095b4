import type { KeyRange, Revision } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import { unhurried } from '@engram/loop';

/** Adds the versions of a range that live at a revision to `into`, in key order, at most `max`, in one go. Returns `into`. */
export function collect(
  index: KeyIndex,
  range: KeyRange,
  at: Revision,
  max: number,
  into: VersionSlot[] = [],
): VersionSlot[] {
  if (max > 0) index.collectSome(range, at, max, unhurried, into);
  return into;
}

/** The number of keys of a range that live at a revision, counted in one go. */
export const countLive = (index: KeyIndex, range: KeyRange, at: Revision): number =>
  index.countSome(range, at, unhurried).live;

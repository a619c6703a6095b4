import { isPoint, type RangeOp, type Revision, revision } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import { StepPace } from '@engram/loop';
import { listHoldsBytes } from './paged-list.ts';
import { heldMax } from './range-order.ts';
import { fetchMax, isPaged, isPlainPoint } from './range-plan.ts';

/** The number of keys of a list that are looked up and fetched at a time: about a millisecond of work. */
export const LIST_KEYS = 4096;
/** What a key takes in a range that is sorted by value, or without values: its place and its part of the answer. */
const PLANNED_KEY_BYTES = 32;
/** A list with more bytes is answered in pages, unless SENT_BYTES_MIN applies. */
export const PAGED_BYTES_MIN = 64 * 1024;
/**
 * A list whose versions are this long on average is sent from the buffers that hold them, up to SENT_TOTAL_MAX. Pages
 * cannot do that.
 */
export const SENT_BYTES_MIN = 16 * 1024;
export const SENT_TOTAL_MAX = 1024 * 1024;
/** So many versions of SENT_BYTES_MIN have SENT_TOTAL_MAX. */
const LONG_VERSIONS_MAX = SENT_TOTAL_MAX / SENT_BYTES_MIN;
/** Leaves of the index, and versions behind the newest revision, that a count ahead of a list visits: less than a millisecond of work. */
const COUNTED_STEPS = 4096;
const NEWEST = revision(Number.MAX_SAFE_INTEGER);

/**
 * About what a range holds until its answer is made, for who counts it before that: by the keys of the newest revision,
 * `newest`, whatever that of the range is. 0 for what a slice answers with short versions. What is sorted by value takes room
 * for its versions by itself (`Scanner.scanPaged`). O(log n).
 */
export function rangeHoldsBytes(index: KeyIndex, op: RangeOp, newest: Revision): number {
  if (op.countOnly) return 0;
  const longBytes = isPaged(op) || isPlainPoint(op) ? longVersionBytes(index, op, newest) : 0;
  if (longBytes > 0 || isPoint(op.range)) return longBytes;
  if (op.limit > 0 && op.limit <= LIST_KEYS && fetchMax(op) <= LIST_KEYS + 1) return 0;
  const keys = Math.min(countedKeys(index, op, newest), fetchMax(op));
  if (keys <= LIST_KEYS) return 0;
  return isPaged(op) ? listHoldsBytes(keys) : PLANNED_KEY_BYTES * keys;
}

/**
 * About how many keys the plan of a range holds at a time: by the keys that there are now, because a count of those of an old revision
 * takes long. 0 for few. O(log n).
 */
export function plannedKeys(index: KeyIndex, op: RangeOp): number {
  const keys = Math.min(countedKeys(index, op, NEWEST), fetchMax(op), heldMax(op));
  return keys <= LIST_KEYS ? 0 : keys;
}

/** Not by the slice that runs: a list that began in it has used it up, and would count as one of no keys. */
const countedKeys = (index: KeyIndex, { range }: RangeOp, at: Revision): number =>
  index.countSome(range, at, new StepPace(COUNTED_STEPS)).live;

/**
 * What a range of few versions holds if they are long: they are read from the disk for all calls that are under way. 0 if they are
 * short, or too many to be held whole.
 */
function longVersionBytes(index: KeyIndex, op: RangeOp, newest: Revision): number {
  const slots: VersionSlot[] = [];
  // One key more is looked up where a limit is, and not read.
  const most = Math.min(fetchMax(op) - 1, LONG_VERSIONS_MAX + 1);
  index.collectSome(op.range, newest, most, new StepPace(COUNTED_STEPS), slots);
  if (slots.length > LONG_VERSIONS_MAX) return 0;
  let bytes = 0;
  for (const slot of slots) if (!index.isTombstone(slot)) bytes += index.bytes(slot);
  if (bytes <= PAGED_BYTES_MIN) return 0;
  // A list in pages holds one of them, which may be one long version.
  return isPoint(op.range) ? bytes : Math.min(bytes, SENT_TOTAL_MAX);
}

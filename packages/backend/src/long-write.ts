import { SLICE_US } from '@engram/core';

/** Changes that are appended with those of others, and take effect in one step. */
const CHANGES_MAX = 2048;

/** A write with more changes is long: it is appended alone, and takes effect in slices. Fewer where slices are short. */
export const longWriteChanges = (sliceUs: number = SLICE_US): number => Math.min(CHANGES_MAX, Math.max(1, sliceUs));

import { SLICE_US } from '@engram/core';

/** The most changes of a write that is appended with others and takes effect in one step. */
const CHANGES_MAX = 2048;

/**
 * A write with more changes is long: it is appended alone, and takes effect in slices. The limit is lower if slices
 * are short.
 */
export const longWriteChanges = (sliceUs: number = SLICE_US): number => Math.min(CHANGES_MAX, Math.max(1, sliceUs));

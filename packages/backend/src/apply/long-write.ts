/** The most changes of a write that is appended with others and takes effect in one step. */
const CHANGES_MAX = 2048;

/** A write with more changes is appended alone: it gives way as it takes effect. The limit is lower if slices are short. */
export const longWriteChanges = (sliceUs: number = CHANGES_MAX): number => Math.min(CHANGES_MAX, Math.max(1, sliceUs));

import type { SharedTime } from '../tree-writer.ts';

/** The time of a writer that has nobody beside it. */
export const unshared: SharedTime = { isOver: () => false, pause: async () => {} };

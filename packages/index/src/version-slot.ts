/**
 * Handle of one version: a small integer, not negative. Valid until the version is dropped (compacted or undone).
 * Afterwards the same number may mean another version.
 */
export type VersionSlot = number;

/** "No such version." */
export const NO_VERSION = -1;

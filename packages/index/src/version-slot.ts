/**
 * Handle of one version: a small non-negative integer. Valid until the version is dropped (compacted or undone); after
 * that the same number may come to mean another version.
 */
export type VersionSlot = number;

/** "No such version." */
export const NO_VERSION = -1;

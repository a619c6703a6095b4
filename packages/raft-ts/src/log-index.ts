declare const brand: unique symbol;

/** The index of an entry in the log: consecutive from 1. 0 is the index before the first entry. */
export type LogIndex = number & { readonly [brand]: 'LogIndex' };

export const logIndex = (value: number): LogIndex => value as LogIndex;
export const NO_INDEX = logIndex(0);
export const indexAfter = (index: LogIndex, by = 1): LogIndex => logIndex(index + by);
export const indexBefore = (index: LogIndex): LogIndex => logIndex(index - 1);
export const minIndex = (one: LogIndex, other: LogIndex): LogIndex => (one < other ? one : other);
export const maxIndex = (one: LogIndex, other: LogIndex): LogIndex => (one > other ? one : other);

import { equalBytes } from '@engram/core';
import { physicalMs, type Timestamp } from '../codec/timestamp.ts';
import { type Mutation, takesLock } from './mutation-buffer.ts';

/** Limits of async commit: the primary's lock names all other keys (client-go's values). */
const ASYNC_KEYS_MAX = 256;
const ASYNC_KEY_BYTES_MAX = 4 << 10;

const TTL_MIN_MS = 3_000;
const TTL_MAX_MS = 20_000;
const TTL_SMALL_BYTES = 16 << 10;
const TTL_MS_PER_SQRT_MIB = 6_000;

/** The key whose record decides the transaction: the first that takes a lock, else (checks only) simply the first. */
export function choosePrimary(mutations: readonly Mutation[]): Uint8Array {
  return (mutations.find(takesLock) ?? mutations[0]!).key;
}

export function mayCommitAsync(mutations: readonly Mutation[]): boolean {
  let bytes = 0;
  let keys = 0;
  for (const mutation of mutations) {
    if (!takesLock(mutation)) continue;
    keys += 1;
    bytes += mutation.key.length;
  }
  return keys > 0 && keys <= ASYNC_KEYS_MAX && bytes <= ASYNC_KEY_BYTES_MAX;
}

/** Every key that takes a lock, but for the primary. */
export const secondariesOf = (mutations: readonly Mutation[], primary: Uint8Array): readonly Uint8Array[] =>
  mutations.filter((mutation) => takesLock(mutation) && !equalBytes(mutation.key, primary)).map(({ key }) => key);

/** Of a record that a store writes: its lock's or commit's fields and its place in the request. TiKV's are below 100 bytes. */
const RECORD_BYTES = 128;

/**
 * Cuts the mutations of one region into requests that write at most `bytesMax`; a single larger one goes alone. Each becomes one
 * entry of the Raft log, where a mutation has its key twice, encoded, and the primary.
 */
export function cutBatches(
  mutations: readonly Mutation[],
  primary: Uint8Array,
  bytesMax: number,
): readonly (readonly Mutation[])[] {
  const batches: Mutation[][] = [];
  let current: Mutation[] = [];
  let bytes = 0;
  for (const mutation of mutations) {
    const size = 2.25 * mutation.key.length + mutation.value.length + primary.length + RECORD_BYTES;
    if (current.length > 0 && bytes + size > bytesMax) {
      batches.push(current);
      current = [];
      bytes = 0;
    }
    current.push(mutation);
    bytes += size;
  }
  if (current.length > 0) batches.push(current);
  return batches;
}

/** How long a lock may live without word from us: longer for larger transactions, plus what passed since the start. */
export function lockTtlMs(bytes: number, baseMs: number, ageMs: number): number {
  const sized = bytes < TTL_SMALL_BYTES ? TTL_MIN_MS : TTL_MS_PER_SQRT_MIB * Math.sqrt(bytes / (1 << 20));
  return Math.ceil(Math.max(baseMs, Math.min(TTL_MAX_MS, Math.max(TTL_MIN_MS, sized))) + ageMs);
}

/** Above a day the versions that a transaction has read may be collected. */
export const TRANSACTION_AGE_MAX_MS = 86_400_000;

/** A reader that pushes the commit timestamp an hour ahead has a wrong clock; following it would spoil ours. */
export const commitTsTooFar = (wanted: Timestamp, startTs: Timestamp): boolean =>
  physicalMs(wanted) - physicalMs(startTs) > 3_600_000;

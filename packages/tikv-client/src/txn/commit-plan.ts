import { equalBytes } from '@engram/core';
import { physicalMs, type Timestamp } from '@engram/tso';
import { type Mutation, takesLock } from './mutation-buffer.ts';

/** Limits of async commit: the primary's lock names all other keys (client-go's values). */
const ASYNC_KEYS_MAX = 256;
const ASYNC_KEY_BYTES_MAX = 4 << 10;

const TTL_MIN_MS = 3_000;
const TTL_MAX_MS = 20_000;
const TTL_SMALL_BYTES = 16 << 10;
const TTL_MS_PER_SQRT_MIB = 6_000;

/** The key whose record decides the transaction: the first that takes a lock, or the first key if all are checks. */
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

/** Every key that takes a lock, except the primary. */
export const secondariesOf = (mutations: readonly Mutation[], primary: Uint8Array): readonly Uint8Array[] =>
  mutations.filter((mutation) => takesLock(mutation) && !equalBytes(mutation.key, primary)).map(({ key }) => key);

/** Bound of what a store writes for a mutation besides keys and value: record fields, framing. TiKV's are below 100 bytes. */
const RECORD_BYTES = 128;

/**
 * Cuts the mutations of one region into requests that write at most `bytesMax`. A single larger mutation is sent alone. Each
 * request becomes one entry of the Raft log, which holds for each mutation the encoded key twice and the primary.
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

/** How long a lock lives without a heartbeat: longer for larger transactions, plus the age of the transaction. */
export function lockTtlMs(bytes: number, baseMs: number, ageMs: number): number {
  const sized = bytes < TTL_SMALL_BYTES ? TTL_MIN_MS : TTL_MS_PER_SQRT_MIB * Math.sqrt(bytes / (1 << 20));
  return Math.ceil(Math.max(baseMs, Math.min(TTL_MAX_MS, Math.max(TTL_MIN_MS, sized))) + ageMs);
}

/** One day. The versions that an older transaction has read may have been collected. */
export const TRANSACTION_AGE_MAX_MS = 86_400_000;

/** A reader that pushes the commit timestamp more than an hour ahead has a wrong clock, so the commit must not follow. */
export const commitTsTooFar = (wanted: Timestamp, startTs: Timestamp): boolean =>
  physicalMs(wanted) - physicalMs(startTs) > 3_600_000;

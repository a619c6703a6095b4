import { assert, type Span } from '@engram/core';
import { isTikvError, type OnePhaseOutcome, type TikvClient } from '@engram/tikv-client';
import type { Timestamp, TimestampPool } from '@engram/tso';

/** The outcome of the insert of a value that is written once, and only while another key does not exist. */
export type InsertOutcome =
  /** The value is there, from this insert or from an earlier one of the same bytes. */
  | { readonly kind: 'written' }
  /** The other key exists. The value is not there, and never will be. */
  | { readonly kind: 'refused'; readonly by: Uint8Array }
  /** Another value is there. */
  | { readonly kind: 'taken'; readonly value: Uint8Array }
  /** The two keys do not lie in one region. */
  | { readonly kind: 'apart' }
  | { readonly kind: 'uncertain'; readonly cause: unknown };

export interface Insert {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** The key that must not exist; undefined if no other key is checked. */
  readonly unless: Uint8Array | undefined;
  /** An earlier insert of the same value may still be under way, so the insert takes a new timestamp. */
  readonly again: boolean;
}

export interface InsertOptions {
  readonly client: TikvClient;
  readonly timestamps: TimestampPool;
  /** The time, on the clock of `nowMs`, at which the insert is uncertain at the latest. */
  readonly endMs: number;
  readonly nowMs: () => number;
  /** Records the requests. */
  readonly span?: Span | undefined;
}

/** Attempts of an insert. It is retried with a new timestamp if it was refused although neither key exists. */
const ATTEMPTS_MAX = 4;

/**
 * Inserts in one phase, in which TiKV checks and writes under the latches of one region. If TiKV answers that one of the keys
 * exists, or existed when it looked, both are read at a new timestamp, which shows everything that was written before.
 * Throws errors that are not about this insert: the client was closed, an argument is out of bounds.
 */
export async function insertOnce(insert: Insert, options: InsertOptions): Promise<InsertOutcome> {
  const { timestamps, endMs, nowMs, span } = options;
  let cause: unknown = new Error('the store refused to write in one phase');
  try {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      if (nowMs() >= endMs) break;
      const call = { timeoutMs: endMs - nowMs(), span };
      const startTs = insert.again || attempt > 0 ? await timestamps.fresh(call) : await timestamps.take(call);
      const outcome = await commit(insert, startTs, options);
      switch (outcome.kind) {
        case 'committed':
          return { kind: 'written' };
        case 'undetermined':
          return { kind: 'uncertain', cause: outcome.cause };
        case 'not-one-phase':
          assert(outcome.reason !== 'size', 'a value that is larger than a transaction may be');
          if (outcome.reason === 'regions') return { kind: 'apart' };
          continue;
        default: {
          const there = await look(insert, options);
          if (there !== undefined) return there;
          cause = new Error(`the insert met ${outcome.kind}, and nothing is there`);
        }
      }
    }
  } catch (error) {
    if (!isTikvError(error) || !error.retryable) throw error;
    cause = error;
  }
  return { kind: 'uncertain', cause };
}

async function commit(
  { key, value, unless }: Insert,
  startTs: Timestamp,
  { client, endMs, nowMs, span }: InsertOptions,
): Promise<OnePhaseOutcome> {
  const txn = client.beginAt(startTs);
  if (unless !== undefined) txn.checkNotExists(unless);
  txn.insert(key, value);
  return await txn.commitOnePhase({ causal: true, timeoutMs: Math.max(1, endMs - nowMs()), span });
}

/** Undefined if neither key exists. */
async function look(
  { key, value, unless }: Insert,
  { client, endMs, nowMs, span }: InsertOptions,
): Promise<InsertOutcome | undefined> {
  const call = { timeoutMs: Math.max(1, endMs - nowMs()), span };
  const snapshot = await client.snapshot(call);
  const [there, other] = await snapshot.batchGet(unless === undefined ? [key] : [key, unless], call);
  if (there !== undefined)
    return Buffer.compare(there, value) === 0 ? { kind: 'written' } : { kind: 'taken', value: there };
  return other === undefined ? undefined : { kind: 'refused', by: other };
}

import { assert, type Clock, sleep, type Span } from '@engram/core';
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
  /** The time, on `clock`, at which the insert is uncertain at the latest. */
  readonly endMs: number;
  readonly clock: Clock;
  /** Records the requests. */
  readonly span?: Span | undefined;
}

/** Attempts of an insert. It is retried with a new timestamp if it was refused although neither key exists. */
const ATTEMPTS_MAX = 4;

/**
 * While an attempt has no answer, the insert looks so often what is there. Stores that are full refuse writes for as long as they
 * are full, but they answer reads: without this look a deposed holder of the log would not learn before `endMs` that its batch
 * will never be there.
 */
const LOOK_EVERY_MS = 1_000;

/**
 * Inserts in one phase, in which TiKV checks and writes under the latches of one region. If TiKV answers that one of the keys
 * exists, or existed when it looked, both are read.
 * Throws errors that are not about this insert: the client was closed, an argument is out of bounds.
 */
export async function insertOnce(insert: Insert, options: InsertOptions): Promise<InsertOutcome> {
  const { timestamps, endMs, clock, span } = options;
  let cause: unknown = new Error('the store refused to write in one phase');
  try {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      if (clock.nowMs() >= endMs) break;
      const call = { timeoutMs: endMs - clock.nowMs(), span };
      const startTs = insert.again || attempt > 0 ? await timestamps.fresh(call) : await timestamps.take(call);
      const outcome = await commit(insert, startTs, options);
      switch (outcome.kind) {
        case 'settled':
          return outcome.by;
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

type Attempt = OnePhaseOutcome | { readonly kind: 'settled'; readonly by: InsertOutcome };

/** One attempt. `settled`: what is there was seen before the attempt had an answer, and the attempt cannot change it. */
async function commit(insert: Insert, startTs: Timestamp, options: InsertOptions): Promise<Attempt> {
  const { key, value, unless } = insert;
  const { client, clock, span } = options;
  const txn = client.beginAt(startTs);
  if (unless !== undefined) txn.checkNotExists(unless);
  txn.insert(key, value);
  const ended = new AbortController();
  let looking: Promise<InsertOutcome | undefined> | undefined;
  const timer = clock.after(LOOK_EVERY_MS, () => {
    looking = lookUntilEnded(insert, options, ended);
  });
  const call = { causal: true, timeoutMs: timeoutMs(options), span, signal: ended.signal };
  const attempt = txn.commitOnePhase(call);
  // An attempt that a store may have executed ends undetermined, also where the look has ended it.
  const isKnown = await attempt.then(
    ({ kind }) => kind !== 'undetermined',
    () => false,
  );
  timer.cancel();
  ended.abort();
  const by = await looking;
  return isKnown || by === undefined ? await attempt : { kind: 'settled', by };
}

/** Looks until one of the keys exists, and ends the attempt then. Undefined if the attempt has ended before. */
async function lookUntilEnded(
  insert: Insert,
  options: InsertOptions,
  ended: AbortController,
): Promise<InsertOutcome | undefined> {
  const { signal } = ended;
  while (!signal.aborted) {
    const there = await lookMeanwhile(insert, options, signal);
    if (there !== undefined) {
      ended.abort();
      return there;
    }
    await sleep(options.clock, LOOK_EVERY_MS, signal).catch(() => {});
  }
  return undefined;
}

async function lookMeanwhile(
  insert: Insert,
  options: InsertOptions,
  signal: AbortSignal,
): Promise<InsertOutcome | undefined> {
  try {
    return await look(insert, options, signal);
  } catch (error) {
    // The attempt goes on, and says what is wrong.
    if (isTikvError(error)) return undefined;
    throw error;
  }
}

const timeoutMs = ({ endMs, clock }: InsertOptions): number => Math.max(1, endMs - clock.nowMs());

/**
 * Undefined if neither key exists. Each key is read by itself at the newest timestamp: the leader of its region answers with all
 * that it has applied, whatever the commit timestamp, and PD is not asked. The other key must be read first. An attempt that came
 * before it has been applied by then, so that the second read sees it, and one that comes later is refused.
 */
async function look(
  { key, value, unless }: Insert,
  options: InsertOptions,
  signal?: AbortSignal,
): Promise<InsertOutcome | undefined> {
  const { client, span } = options;
  const call = { timeoutMs: timeoutMs(options), span, signal };
  const other = unless === undefined ? undefined : await client.get(unless, call);
  const there = await client.get(key, call);
  if (there !== undefined)
    return Buffer.compare(there, value) === 0 ? { kind: 'written' } : { kind: 'taken', value: there };
  return other === undefined ? undefined : { kind: 'refused', by: other };
}

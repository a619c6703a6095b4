import { assert, compareBytes, EMPTY_BYTES, equalBytes, keyText, Limiter } from '@engram/core';
import type { Backoffer } from '../backoff/backoffer.ts';
import { maxTimestamp, type Timestamp } from '@engram/tso';
import type { Engine } from '../engine.ts';
import { TikvError } from '../errors.ts';
import { Assertion, AssertionLevel } from '../proto/gen/kvrpcpb.ts';
import type { Call } from '../runtime/call.ts';
import type { Settled, Undetermined } from './commit-outcome.ts';
import type { CommitOptions } from './commit-options.ts';
import { choosePrimary, cutBatches, lockTtlMs, secondariesOf, TRANSACTION_AGE_MAX_MS } from './commit-plan.ts';
import { holdsAll, type Mutation, takesLock } from './mutation-buffer.ts';
import { rollBack } from './roll-back.ts';
import { settleTransaction } from './settle.ts';

/**
 * Time to live of the locks that a one-phase-only commit leaves when TiKV falls back to two phases. Such a lock never commits,
 * so any transaction that meets it may clear it.
 */
const WORTHLESS_TTL_MS = 1;

/** The state that the phases of one commit share: mutations, start timestamp, call, backoff. Keys are store keys. */
export class CommitContext {
  readonly engine: Engine;
  readonly startTs: Timestamp;
  readonly call: Call;
  readonly backoffer: Backoffer;
  readonly options: CommitOptions;
  readonly limiter: Limiter;
  /** The transaction commits in one phase or not at all. None of its locks may ever commit. */
  readonly onePhaseOnly: boolean;
  /** Size of all keys and values. */
  readonly bytes: number;
  #mutations: readonly Mutation[];
  #primary: Uint8Array;

  /** `mutations`: in key order, at least one. Throws `transaction-ended` or `gc-too-early` if `startTs` is too old. */
  constructor(
    engine: Engine,
    startTs: Timestamp,
    mutations: readonly Mutation[],
    bytes: number,
    call: Call,
    options: CommitOptions,
    onePhaseOnly: boolean,
  ) {
    assert(mutations.length > 0, 'a commit writes or checks something');
    this.engine = engine;
    this.startTs = startTs;
    this.#mutations = mutations;
    this.bytes = bytes;
    this.call = call;
    this.options = options;
    this.onePhaseOnly = onePhaseOnly;
    this.backoffer = engine.backoffer(call);
    this.limiter = new Limiter(engine.settings.concurrency);
    this.#primary = choosePrimary(mutations);
    if (this.ageMs > TRANSACTION_AGE_MAX_MS) throw new TikvError('transaction-ended', 'it is older than a day');
    engine.safePoint.checkKnown(startTs);
  }

  get mutations(): readonly Mutation[] {
    return this.#mutations;
  }

  /** The key whose record decides the transaction. */
  get primary(): Uint8Array {
    return this.#primary;
  }

  get secondaries(): readonly Uint8Array[] {
    return secondariesOf(this.#mutations, this.primary);
  }

  get lockedKeys(): readonly Uint8Array[] {
    return this.#mutations.filter(takesLock).map(({ key }) => key);
  }

  get checksOnly(): boolean {
    return !this.#mutations.some(takesLock);
  }

  get ttlMs(): number {
    if (this.onePhaseOnly) return WORTHLESS_TTL_MS;
    return lockTtlMs(this.bytes, this.engine.settings.lockTtlMs, this.ageMs);
  }

  /** Time since PD allocated the start timestamp, by PD's clock. */
  get ageMs(): number {
    return this.engine.pd.oracle.ageMs(this.startTs);
  }

  get assertionLevel(): number {
    return this.options.assertionLevel ?? AssertionLevel.Fast;
  }

  /** The lowest commit timestamp that keeps the caller's promise to other clients (CommitOptions.causal). */
  async minCommitTs(ownTimestampNeeded: boolean): Promise<Timestamp> {
    const above = this.startTs + 1n;
    if (!ownTimestampNeeded || this.options.causal) return above;
    return maxTimestamp(above, (await this.engine.pd.oracle.next(this.call)) + 1n);
  }

  /** Cuts the mutations into batches by region and size. The batch of the primary is the first. */
  async batches(mutations: readonly Mutation[]): Promise<readonly (readonly Mutation[])[]> {
    const region = this.engine.locator.cached(mutations[0]!.key, this.call);
    const inOneRegion = region !== undefined && holdsAll(region, mutations);
    const groups = inOneRegion
      ? [{ items: mutations }]
      : await this.engine.locator.groupBy(mutations, ({ key }) => key, this.backoffer);
    const batches = groups.flatMap(({ items }) =>
      cutBatches(items, this.primary, this.engine.settings.writeBatchBytes),
    );
    const first = batches.findIndex((batch) => batch.some(({ key }) => equalBytes(key, this.primary)));
    return first <= 0 ? batches : [batches[first]!, ...batches.slice(0, first), ...batches.slice(first + 1)];
  }

  /**
   * Adds the locks of `lockUnlessOnePhase`, because one phase is not possible. Returns whether the mutations changed. They stay
   * in key order, because the sender of a batch compares only its first and last key with the region.
   */
  addLocks(): boolean {
    const wanted = this.options.lockUnlessOnePhase ?? [];
    if (wanted.length === 0) return false;
    const byKey = new Map(this.#mutations.map((mutation) => [keyText(mutation.key), mutation]));
    const before = byKey.size;
    for (const key of wanted) {
      const name = keyText(key);
      const present = byKey.get(name);
      if (present?.kind === 'check')
        throw new TikvError('invalid-argument', 'a key cannot be both locked and checked to be absent');
      if (present === undefined) byKey.set(name, { kind: 'lock', key, value: EMPTY_BYTES, assertion: Assertion.None });
    }
    if (byKey.size === before) return false;
    this.#mutations = [...byKey.values()].sort((left, right) => compareBytes(left.key, right.key));
    // The primary was a check because all mutations were. A check leaves no lock, so one of the added keys decides instead.
    if (byKey.get(keyText(this.#primary))?.kind === 'check') this.#primary = choosePrimary(this.#mutations);
    return true;
  }

  /** Clears the locks that the prewrites may have left, so that other transactions need not wait until they expire. */
  rollBackLater(): void {
    const backoffer = this.engine.backoffer(this.engine.backgroundCall(), this.engine.settings.backgroundBudgetMs);
    this.engine.background.run('rollback', () => this.#rollBack(backoffer));
  }

  /** As `rollBackLater`, within the deadline of the commit. */
  rollBackNow(): Promise<void> {
    return this.#rollBack(this.backoffer);
  }

  async #rollBack(backoffer: Backoffer): Promise<void> {
    const primaryFirst = [...this.lockedKeys].sort(
      (left, right) => Number(equalBytes(right, this.primary)) - Number(equalBytes(left, this.primary)),
    );
    await rollBack(this.engine, primaryFirst, this.startTs, backoffer);
    this.engine.statuses.put(this.startTs, { kind: 'rolled-back' });
  }

  /** Asks the primary, within the deadline of the commit. The result is definite. */
  settleNow(): Promise<Settled> {
    return settleTransaction(this.engine, this.startTs, this.primary, this.lockedKeys, this.backoffer);
  }

  undetermined(cause: unknown): Undetermined {
    const { engine, startTs, primary, lockedKeys } = this;
    return {
      kind: 'undetermined',
      startTs,
      primary,
      cause,
      settle: (options) =>
        settleTransaction(engine, startTs, primary, lockedKeys, engine.backoffer(engine.call(options))),
    };
  }
}

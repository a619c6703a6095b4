import { assert, compareBytes, EMPTY_BYTES, equalBytes, keyText } from '@engram/core';
import type { Backoffer } from '../backoff/backoffer.ts';
import { maxTimestamp, type Timestamp } from '../codec/timestamp.ts';
import type { Engine } from '../engine.ts';
import { TikvError } from '../errors.ts';
import { Assertion, AssertionLevel } from '../proto/gen/kvrpcpb.ts';
import type { Call } from '../runtime/call.ts';
import { Limiter } from '../runtime/limiter.ts';
import type { Settled, Undetermined } from './commit-outcome.ts';
import type { CommitOptions } from './commit-options.ts';
import { choosePrimary, cutBatches, lockTtlMs, secondariesOf, TRANSACTION_AGE_MAX_MS } from './commit-plan.ts';
import { holdsAll, type Mutation, takesLock } from './mutation-buffer.ts';
import { rollBack } from './roll-back.ts';
import { settleTransaction } from './settle.ts';

/** A lock that only one phase may leave behind, by falling back from it, is worthless: whoever meets it may clear it. */
const WORTHLESS_TTL_MS = 1;

/** What the phases of one commit share: what is written, by whom, with how much patience. Keys are store keys. */
export class CommitContext {
  readonly engine: Engine;
  readonly startTs: Timestamp;
  readonly call: Call;
  readonly backoffer: Backoffer;
  readonly options: CommitOptions;
  readonly limiter: Limiter;
  /** One phase or nothing: no lock of it may ever commit. */
  readonly onePhaseOnly: boolean;
  /** Keys and values together. */
  readonly bytes: number;
  #mutations: readonly Mutation[];
  #primary: Uint8Array;

  /** `mutations`: in key order, at least one. Throws `transaction-ended` or `gc-too-early` if it is too old. */
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

  /** The key whose record decides. */
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

  /** Since the start timestamp was dealt, by PD's clock. */
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

  /** The mutations by region and size, that of the primary first. */
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
   * One phase is not possible: the locks that the caller wants instead are added. Returns whether that changed the
   * mutations. They stay in key order: whoever sends a batch looks at its two ends only.
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
    // What only checked had no key that a lock could decide by.
    if (byKey.get(keyText(this.#primary))?.kind === 'check') this.#primary = choosePrimary(this.#mutations);
    return true;
  }

  /** Clears what the prewrite phase may have left; others are spared the lock's time to live. */
  rollBackLater(): void {
    const backoffer = this.engine.backoffer(this.engine.backgroundCall(), this.engine.settings.backgroundBudgetMs);
    this.engine.background.run('rollback', () => this.#rollBack(backoffer));
  }

  /** The same, within the patience of the commit. */
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

  /** Asks the primary, within the patience of the commit: what is known then is definite. */
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

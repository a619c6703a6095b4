import { compareBytes, equalBytes, keyText } from '@engram/core';
import type { Backoffer } from '../backoff/backoffer.ts';
import { maxTimestamp, type Timestamp } from '../codec/timestamp.ts';
import type { Engine } from '../engine.ts';
import { TikvError } from '../errors.ts';
import { AssertionLevel, CommitRole } from '../proto/gen/kvrpcpb.ts';
import type { Fate } from '../region/region-sender.ts';
import type { Call } from '../runtime/call.ts';
import { Limiter } from '../runtime/limiter.ts';
import { settleAll } from '../runtime/settle-all.ts';
import { commands } from '../transport/commands.ts';
import type { CommitMode, CommitOutcome, Settled } from './commit-outcome.ts';
import {
  choosePrimary,
  commitTsTooFar,
  cutBatches,
  lockTtlMs,
  mayCommitAsync,
  secondariesOf,
  TRANSACTION_AGE_MAX_MS,
} from './commit-plan.ts';
import { Heartbeat } from './heartbeat.ts';
import { holdsAll, type Mutation, takesLock } from './mutation-buffer.ts';
import { Prewriter } from './prewriter.ts';
import { rollBack } from './roll-back.ts';
import { settleTransaction } from './settle.ts';

export interface CommitOptions {
  /**
   * How far the client may go: `1pc` (the default) tries one phase, then async commit, then two phases; `async` starts with
   * the second, `2pc` with the third.
   */
  readonly mode?: '1pc' | 'async' | '2pc' | undefined;
  /**
   * Saves a timestamp: the commit still comes after all that its own client has seen, but two transactions of different
   * clients on different keys may be ordered against real time.
   */
  readonly causal?: boolean | undefined;
  /** For checks that hold only in one phase: if the keys are in several regions, nothing is written. */
  readonly requireOnePhase?: boolean | undefined;
  /**
   * Keys to lock when it cannot be one phase: a check alone is not atomic with the writes then. Whoever may invalidate the
   * check must write one of these keys.
   */
  readonly lockUnlessOnePhase?: readonly Uint8Array[] | undefined;
  /** kvrpcpb.AssertionLevel: 0 off, 1 where it costs nothing (the default), 2 always. */
  readonly assertionLevel?: number | undefined;
  /** An upper bound for timestamps that TiKV calculates; above it the commit takes two phases. */
  readonly maxCommitTs?: Timestamp | undefined;
}

/** Brings one transaction from its buffer to its end. Used once. Keys are store keys. */
export class Committer {
  readonly engine: Engine;
  readonly startTs: Timestamp;
  readonly call: Call;
  readonly backoffer: Backoffer;
  readonly options: CommitOptions;
  readonly limiter: Limiter;
  readonly #startMs: number;
  #mutations: readonly Mutation[];
  #primary!: Uint8Array;
  readonly #bytes: number;

  constructor(
    engine: Engine,
    startTs: Timestamp,
    startMs: number,
    mutations: readonly Mutation[],
    bytes: number,
    call: Call,
    options: CommitOptions,
  ) {
    this.engine = engine;
    this.startTs = startTs;
    this.#startMs = startMs;
    this.#mutations = mutations;
    this.#bytes = bytes;
    this.call = call;
    this.options = options;
    this.backoffer = engine.backoffer(call);
    this.limiter = new Limiter(engine.settings.concurrency);
  }

  get primary(): Uint8Array {
    return this.#primary;
  }

  get mutations(): readonly Mutation[] {
    return this.#mutations;
  }

  get secondaries(): readonly Uint8Array[] {
    return secondariesOf(this.#mutations, this.#primary);
  }

  get ttlMs(): number {
    return lockTtlMs(this.#bytes, this.engine.settings.lockTtlMs, this.ageMs);
  }

  get ageMs(): number {
    return this.engine.clock.nowMs() - this.#startMs;
  }

  get assertionLevel(): number {
    return this.options.assertionLevel ?? AssertionLevel.Fast;
  }

  async commit(): Promise<CommitOutcome> {
    const beganMs = this.engine.clock.nowMs();
    let mode: CommitMode = '2pc';
    let result: CommitOutcome['kind'] | 'failed' = 'failed';
    try {
      const outcome = await this.#commit();
      result = outcome.kind;
      if (outcome.kind === 'committed') mode = outcome.mode;
      return outcome;
    } finally {
      const durationMs = this.engine.clock.nowMs() - beganMs;
      this.engine.observer.transaction?.({
        mode,
        outcome: result,
        keys: this.#mutations.length,
        bytes: this.#bytes,
        durationMs,
      });
    }
  }

  async #commit(): Promise<CommitOutcome> {
    if (this.#mutations.length === 0) return { kind: 'committed', commitTs: this.startTs, mode: 'read-only' };
    if (this.ageMs > TRANSACTION_AGE_MAX_MS) throw new TikvError('transaction-ended', 'it is older than a day');
    this.#primary = choosePrimary(this.#mutations)!;
    const wanted = this.options.mode ?? '1pc';
    let batches = await this.batches(this.#mutations);
    const onePhase = wanted === '1pc' && batches.length === 1;
    if (this.options.requireOnePhase && !onePhase) throw new TikvError('not-one-phase', `${batches.length} batches`);
    if (!onePhase && this.#addLocks()) batches = await this.batches(this.#mutations);
    const checksOnly = !this.#mutations.some(takesLock);
    // Locks of async commit are a commit once all are there: one that must be refused then may not write them.
    const async = !checksOnly && wanted !== '2pc' && !this.options.requireOnePhase && mayCommitAsync(this.#mutations);
    const prewriter = new Prewriter(this, { onePhase: onePhase && !checksOnly, async });
    const floor =
      (onePhase || async) && !this.options.causal
        ? (await this.engine.pd.oracle.next(this.call)) + 1n
        : this.startTs + 1n;
    const heartbeat = new Heartbeat(this);
    if (!onePhase) heartbeat.start();
    try {
      const prewritten = await prewriter.run(batches, maxTimestamp(floor, this.startTs + 1n));
      switch (prewritten.kind) {
        case 'committed':
          return this.#committed(prewritten.commitTs, prewritten.mode);
        case 'locked':
          break;
        default:
          return prewritten;
      }
      if (checksOnly) return { kind: 'committed', commitTs: this.startTs, mode: 'read-only' };
      if (this.options.requireOnePhase) {
        this.rollBackLater();
        throw new TikvError('not-one-phase', 'the server declined one phase');
      }
      if (prewritten.commitTs !== undefined) {
        // All keys are locked: from here on it is committed, whoever writes it down.
        this.engine.statuses.put(this.startTs, { kind: 'committed', commitTs: prewritten.commitTs });
        this.#commitLater(this.#lockedKeys(), prewritten.commitTs, true);
        return this.#committed(prewritten.commitTs, 'async');
      }
      return await this.#commitInTwoPhases();
    } finally {
      heartbeat.stop();
    }
  }

  /** The mutations by region and size, that of the primary first. */
  async batches(mutations: readonly Mutation[]): Promise<readonly (readonly Mutation[])[]> {
    const region = this.engine.locator.cached(mutations[0]!.key, this.call);
    const inOneRegion = region !== undefined && holdsAll(region, mutations);
    const groups = inOneRegion
      ? [{ items: mutations }]
      : await this.engine.locator.groupBy(mutations, ({ key }) => key, this.backoffer);
    const batches = groups.flatMap(({ items }) => cutBatches(items, this.engine.settings.writeBatchBytes));
    const first = batches.findIndex((batch) => batch.some(({ key }) => equalBytes(key, this.#primary)));
    return first <= 0 ? batches : [batches[first]!, ...batches.slice(0, first), ...batches.slice(first + 1)];
  }

  /** Whether that changed the mutations. They stay in key order: whoever sends a batch looks at its two ends only. */
  #addLocks(): boolean {
    const wanted = this.options.lockUnlessOnePhase ?? [];
    if (wanted.length === 0) return false;
    const have = new Set(this.#mutations.filter(takesLock).map(({ key }) => keyText(key)));
    const added = wanted
      .filter((key) => !have.has(keyText(key)))
      .map((key): Mutation => ({ kind: 'lock', key, value: new Uint8Array(0), assertion: 0 }));
    if (added.length === 0) return false;
    this.#mutations = [...this.#mutations, ...added].sort((left, right) => compareBytes(left.key, right.key));
    return true;
  }

  /** One phase has become impossible after all. */
  leaveOnePhase(): void {
    if (this.options.requireOnePhase) throw new TikvError('not-one-phase', 'the region was split');
    this.#addLocks();
  }

  #committed(commitTs: Timestamp, mode: CommitMode): CommitOutcome {
    this.engine.statuses.put(this.startTs, { kind: 'committed', commitTs });
    return { kind: 'committed', commitTs, mode };
  }

  #lockedKeys(): readonly Uint8Array[] {
    return this.#mutations.filter(takesLock).map(({ key }) => key);
  }

  async #commitInTwoPhases(): Promise<CommitOutcome> {
    const fate: Fate = { uncertain: false, sent: false };
    let commitTs: Timestamp;
    try {
      commitTs = await this.engine.pd.oracle.next(this.call);
    } catch (error) {
      this.rollBackLater();
      throw error;
    }
    for (;;) {
      try {
        const rest = await this.#commitPrimary(commitTs, fate);
        if (rest === 'lost') {
          this.rollBackLater();
          return {
            kind: 'conflict',
            reason: 'rolled-back',
            key: this.#primary,
            conflictStartTs: this.startTs,
            conflictCommitTs: 0n,
          };
        }
        if (rest.kind === 'too-early') {
          if (commitTsTooFar(rest.minCommitTs, this.startTs))
            throw new TikvError('transaction-aborted', 'a reader pushed the commit an hour ahead');
          commitTs = await this.engine.pd.oracle.next(this.call);
          continue;
        }
        this.engine.statuses.put(this.startTs, { kind: 'committed', commitTs: rest.commitTs });
        this.#commitLater(rest.others, rest.commitTs, false);
        return this.#committed(rest.commitTs, '2pc');
      } catch (error) {
        if (fate.uncertain) return this.undetermined(error);
        this.rollBackLater();
        throw error;
      }
    }
  }

  /** The commit point. Returns the keys that are left to be committed. */
  async #commitPrimary(
    commitTs: Timestamp,
    fate: Fate,
  ): Promise<
    | 'lost'
    | { kind: 'too-early'; minCommitTs: Timestamp }
    | { kind: 'done'; commitTs: Timestamp; others: readonly Uint8Array[] }
  > {
    const all = this.#lockedKeys();
    for (let relocations = 0; ; relocations += 1) {
      const region = await this.engine.locator.locate(this.#primary, this.backoffer);
      const request = {
        startVersion: this.startTs,
        keys: [this.#primary],
        commitVersion: commitTs,
        commitRole: CommitRole.Primary,
        primaryKey: this.#primary,
      };
      const result = await this.engine.onRegion(region, commands.commit, request, this.backoffer, relocations, {
        fate,
      });
      if (result.kind === 'relocate') continue;
      const { error, commitVersion } = result.response;
      if (error === undefined) {
        return {
          kind: 'done',
          commitTs: commitVersion > 0n ? commitVersion : commitTs,
          others: all.filter((key) => !equalBytes(key, this.#primary)),
        };
      }
      if (error.commitTsExpired !== undefined)
        return { kind: 'too-early', minCommitTs: error.commitTsExpired.minCommitTs };
      // The lock is gone, and had it been committed the answer were success: a reader ended us.
      if (error.txnLockNotFound !== undefined || error.retryable !== '' || error.conflict !== undefined) return 'lost';
      fate.uncertain = false; // a definite answer, whatever came before
      throw new TikvError('transaction-aborted', error.abort || 'the commit was refused');
    }
  }

  #commitLater(keys: readonly Uint8Array[], commitTs: Timestamp, async: boolean): void {
    if (keys.length === 0) return;
    const backoffer = this.engine.backoffer(this.engine.backgroundCall(), this.engine.settings.backgroundBudgetMs);
    this.engine.background.run('commit', () => this.#commitKeys(keys, commitTs, async, backoffer, 0));
  }

  async #commitKeys(
    keys: readonly Uint8Array[],
    commitVersion: Timestamp,
    useAsyncCommit: boolean,
    backoffer: Backoffer,
    relocations: number,
  ): Promise<void> {
    const groups = await this.engine.locator.group(keys, backoffer);
    const tasks = groups.flatMap(({ region, keys: own }) => {
      const parts: Uint8Array[][] = [];
      for (let from = 0; from < own.length; from += 1_024) parts.push(own.slice(from, from + 1_024));
      return parts.map((part) =>
        this.limiter
          .run(async () => {
            const request = {
              startVersion: this.startTs,
              keys: part,
              commitVersion,
              commitRole: CommitRole.Secondary,
              primaryKey: this.#primary,
              useAsyncCommit,
            };
            const result = await this.engine.onRegion(region, commands.commit, request, backoffer, relocations);
            if (result.kind === 'relocate') return part;
            const { error } = result.response;
            if (error?.commitTsExpired !== undefined) {
              this.engine.logger?.error(
                { startTs: `${this.startTs}`, commitTs: `${commitVersion}` },
                'a secondary was committed below its lock: a bug',
              );
            }
            return undefined;
          })
          .then((moved) =>
            moved === undefined
              ? undefined
              : this.#commitKeys(moved, commitVersion, useAsyncCommit, backoffer, relocations + 1),
          ),
      );
    });
    await settleAll(tasks);
  }

  /** Clears what the prewrite phase may have left; others are spared the lock's time to live. */
  rollBackLater(): void {
    const keys = this.#lockedKeys();
    const primaryFirst = [...keys].sort(
      (left, right) => Number(equalBytes(right, this.#primary)) - Number(equalBytes(left, this.#primary)),
    );
    const backoffer = this.engine.backoffer(this.engine.backgroundCall(), this.engine.settings.backgroundBudgetMs);
    this.engine.statuses.put(this.startTs, { kind: 'rolled-back' });
    this.engine.background.run('rollback', () => rollBack(this.engine, primaryFirst, this.startTs, backoffer));
  }

  /** Asks the primary, within the patience of the commit: what is known then is definite. */
  async settleNow(): Promise<Settled> {
    return settleTransaction(this.engine, this.startTs, this.#primary, this.#lockedKeys(), this.backoffer);
  }

  undetermined(cause: unknown): CommitOutcome {
    const { engine, startTs } = this;
    const primary = this.#primary;
    const keys = this.#lockedKeys();
    return {
      kind: 'undetermined',
      startTs,
      primary,
      cause,
      settle: (options) => settleTransaction(engine, startTs, primary, keys, engine.backoffer(engine.call(options))),
    };
  }
}

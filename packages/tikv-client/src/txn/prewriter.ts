import { equalBytes } from '@engram/core';
import type { Timestamp } from '@engram/tso';
import { TikvError } from '../errors.ts';
import { type KeyError, type LockInfo, WriteConflictReason } from '../proto/gen/kvrpcpb.ts';
import type { Fate } from '../region/region-sender.ts';
import { commands } from '../transport/commands.ts';
import type { CommitContext } from './commit-context.ts';
import type { CommitMode, Conflict, NotOnePhase, Undetermined } from './commit-outcome.ts';
import { expandLock } from './lock.ts';
import { holdsAll, type Mutation, opOf, takesLock } from './mutation-buffer.ts';

const TXN_SIZE_UNKNOWN = 2n ** 64n - 1n;

/** `locked`: every key is locked. With a `commitTs` (async commit) the locks alone commit the transaction. */
export type Prewritten =
  | { readonly kind: 'locked'; readonly commitTs: Timestamp | undefined }
  | { readonly kind: 'committed'; readonly commitTs: Timestamp; readonly mode: CommitMode }
  | Refusal
  | Undetermined;

type Refusal = Conflict | { readonly kind: 'exists'; readonly key: Uint8Array } | NotOnePhase;

/** A definite end of the transaction without a commit, found by one of its batches. */
class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.kind);
    this.refusal = refusal;
  }
}

/** The transaction is already committed: the answer of an earlier attempt was lost. */
class AlreadyCommitted extends Error {
  readonly commitTs: Timestamp;
  constructor(commitTs: Timestamp) {
    super('committed');
    this.commitTs = commitTs;
  }
}

/**
 * The first phase. With one phase or async commit it is also the last. Then a lost answer may leave the result unknown, and
 * `run` returns `undetermined`.
 */
export class Prewriter {
  readonly #context: CommitContext;
  #onePhase: boolean;
  #async: boolean;
  #minCommitTs: Timestamp = 0n;
  #commitTs: Timestamp = 0n;
  #everyAnswerHasTs = true;
  #onePhaseCommitTs: Timestamp = 0n;
  readonly #fates: { readonly fate: Fate; done: boolean }[] = [];
  /** One batch was refused, so the others need not be sent. */
  #refused = false;

  constructor(context: CommitContext, wish: { onePhase: boolean; async: boolean }) {
    this.#context = context;
    this.#onePhase = wish.onePhase;
    this.#async = wish.async;
  }

  /** `batches`: as CommitContext.batches cuts them. Exactly one if one phase is to be tried. */
  async run(batches: readonly (readonly Mutation[])[], minCommitTs: Timestamp): Promise<Prewritten> {
    this.#minCommitTs = minCommitTs;
    try {
      await this.#all(batches, 0);
    } catch (error) {
      return this.#failed(error);
    }
    if (this.#onePhaseCommitTs > 0n) return { kind: 'committed', commitTs: this.#onePhaseCommitTs, mode: '1pc' };
    const decided = this.#async && this.#everyAnswerHasTs && this.#commitTs > 0n;
    return { kind: 'locked', commitTs: decided ? this.#commitTs : undefined };
  }

  async #failed(error: unknown): Promise<Prewritten> {
    const context = this.#context;
    if (error instanceof AlreadyCommitted)
      return { kind: 'committed', commitTs: error.commitTs, mode: this.#onePhase ? '1pc' : 'async' };
    const single = this.#onePhase || this.#async;
    const lost = this.#fates.some(({ fate }) => fate.uncertain);
    if (error instanceof Refused) {
      if (single && lost) {
        // An earlier attempt may have succeeded and caused the refusal of the resend. The primary decides.
        try {
          const settled = await context.settleNow();
          if (settled.kind === 'committed')
            return { kind: 'committed', commitTs: settled.commitTs, mode: this.#onePhase ? '1pc' : 'async' };
        } catch (cause) {
          return context.undetermined(cause);
        }
      } else this.#rollBack();
      return error.refusal;
    }
    // In one phase or async commit the transaction is committed if all keys are locked, and here all may be.
    if (single && lost && this.#fates.every(({ fate, done }) => done || fate.uncertain))
      return context.undetermined(error);
    this.#rollBack();
    throw error;
  }

  /** A refused request wrote nothing. So there are locks to clear only if a request succeeded or may have. */
  #rollBack(): void {
    if (this.#fates.some(({ fate, done }) => done || fate.uncertain)) this.#context.rollBackLater();
  }

  /** `past`: the fate of the batch that `batches` are parts of. Each part inherits it. */
  async #all(
    batches: readonly (readonly Mutation[])[],
    relocations: number,
    past: Fate = { uncertain: false, sent: false },
  ): Promise<void> {
    const results = await Promise.allSettled(batches.map((batch) => this.#batch(batch, relocations, { ...past })));
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    if (failures.length === 0) return;
    // A definite result comes before an uncertain one: after one refused key the transaction cannot be committed.
    throw (
      failures.find((failure) => failure instanceof AlreadyCommitted) ??
      failures.find((failure) => failure instanceof Refused) ??
      failures[0]
    );
  }

  async #batch(mutations: readonly Mutation[], relocations: number, fate: Fate): Promise<void> {
    const record = { fate, done: false };
    this.#fates.push(record);
    const context = this.#context;
    const { engine, backoffer } = context;
    let moved: readonly Mutation[] | undefined;
    await context.limiter.run(async () => {
      for (;;) {
        if (this.#refused) throw new TikvError('aborted', 'another part of the transaction was refused');
        const region = await engine.locator.locate(mutations[0]!.key, backoffer);
        if (!holdsAll(region, mutations)) {
          moved = mutations;
          return;
        }
        const request = this.#request(mutations, relocations);
        const result = await engine.onRegion(region, commands.prewrite, request, backoffer, relocations, { fate });
        if (result.kind === 'relocate') {
          moved = mutations;
          return;
        }
        const { errors, minCommitTs, onePcCommitTs } = result.response;
        if (errors.length === 0) {
          if (onePcCommitTs > 0n) this.#onePhaseCommitTs = onePcCommitTs;
          if (minCommitTs > this.#commitTs) this.#commitTs = minCommitTs;
          // Checks leave no lock, so an answer about checks alone carries no timestamp.
          if ((minCommitTs === 0n || !request.useAsyncCommit) && mutations.some(takesLock))
            this.#everyAnswerHasTs = false;
          record.done = true;
          return;
        }
        try {
          await this.#meet(errors);
        } catch (error) {
          if (error instanceof Refused) this.#refused = true;
          throw error;
        }
      }
    });
    if (moved === undefined) return;
    const batches = await context.batches(moved);
    const split = batches.length > 1 && this.#onePhase;
    if (split && fate.uncertain) {
      // An attempt in one phase may have been executed. It must be settled before the keys are sent in several batches.
      const settled = await context.settleNow();
      if (settled.kind === 'committed') throw new AlreadyCommitted(settled.commitTs);
      throw new Refused({
        kind: 'conflict',
        reason: 'rolled-back',
        key: context.primary,
        conflictStartTs: context.startTs,
        conflictCommitTs: 0n,
      });
    }
    this.#fates.splice(this.#fates.indexOf(record), 1); // each part adds its own record
    if (split) {
      this.#leaveOnePhase();
      await this.#all(await context.batches(context.mutations), relocations + 1);
    } else await this.#all(batches, relocations + 1, fate);
  }

  #leaveOnePhase(): void {
    if (this.#context.onePhaseOnly) throw new Refused({ kind: 'not-one-phase', reason: 'regions' });
    this.#onePhase = false;
    this.#context.addLocks();
  }

  #request(mutations: readonly Mutation[], relocations: number): Parameters<typeof commands.prewrite.request.write>[1] {
    const context = this.#context;
    const async = this.#async && !this.#onePhase;
    const hasPrimary = async && mutations.some(({ key }) => equalBytes(key, context.primary));
    return {
      mutations: mutations.map(({ kind, key, value, assertion }) => ({ op: opOf[kind], key, value, assertion })),
      primaryLock: context.primary,
      startVersion: context.startTs,
      lockTtl: context.ttlMs,
      txnSize: relocations > 0 ? TXN_SIZE_UNKNOWN : BigInt(mutations.length),
      minCommitTs: this.#minCommitTs,
      // A server that declines one phase declines async commit too, because maxCommitTs is the only reason for both. So a
      // request for one phase need not name the secondaries, which some stores copy into every record.
      useAsyncCommit: async,
      secondaries: hasPrimary ? context.secondaries : undefined,
      tryOnePc: this.#onePhase,
      maxCommitTs: context.options.maxCommitTs ?? 0n,
      assertionLevel: context.assertionLevel,
    };
  }

  /** Returns when the batch may be sent again. Throws if an error ends the transaction. */
  async #meet(errors: readonly KeyError[]): Promise<void> {
    const { startTs, engine, backoffer, primary } = this.#context;
    const locks: LockInfo[] = [];
    for (const error of errors) {
      const { conflict, alreadyExist, assertionFailed, locked } = error;
      if (conflict !== undefined) {
        // A store that finds this transaction's commit at a resend answers with a conflict with the transaction itself.
        if (conflict.conflictTs === startTs && conflict.conflictCommitTs > startTs)
          throw new AlreadyCommitted(conflict.conflictCommitTs);
        const reason =
          conflict.reason === WriteConflictReason.SelfRolledBack || conflict.conflictTs === startTs
            ? 'rolled-back'
            : 'newer-write';
        throw new Refused({
          kind: 'conflict',
          reason,
          key: conflict.key,
          conflictStartTs: conflict.conflictTs,
          conflictCommitTs: conflict.conflictCommitTs,
        });
      }
      if (alreadyExist !== undefined) throw new Refused({ kind: 'exists', key: alreadyExist.key });
      if (assertionFailed !== undefined) {
        const { key, existingStartTs, existingCommitTs } = assertionFailed;
        throw new TikvError(
          'assertion-failed',
          `key ${Buffer.from(key).toString('hex')}, written by ${existingStartTs} at ${existingCommitTs}`,
        );
      }
      if (error.retryable !== '' || error.txnLockNotFound !== undefined) {
        throw new Refused({
          kind: 'conflict',
          reason: 'rolled-back',
          key: primary,
          conflictStartTs: startTs,
          conflictCommitTs: 0n,
        });
      }
      if (locked === undefined) throw new TikvError('transaction-aborted', error.abort || 'the prewrite was refused');
      for (const lock of expandLock(locked)) {
        // The lock's transaction is younger, so this one conflicts with it, whether it commits or not.
        if (lock.lockVersion > startTs) {
          throw new Refused({
            kind: 'conflict',
            reason: 'newer-lock',
            key: lock.key,
            conflictStartTs: lock.lockVersion,
            conflictCommitTs: 0n,
          });
        }
        locks.push(lock);
      }
    }
    const waitMs = await engine.resolver.forWrite(locks, startTs, backoffer);
    if (waitMs !== undefined) {
      const cause = new TikvError('region-unavailable', `a key is locked by transaction ${locks[0]?.lockVersion}`);
      await backoffer.wait('txnLock', cause, { atMostMs: Math.max(1, waitMs) });
    }
  }
}

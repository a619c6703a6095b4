import { keyText } from '@engram/core';
import type { Backoffer } from '../backoff/backoffer.ts';
import { sameKey } from '../codec/key-codec.ts';
import { MAX_TIMESTAMP, physicalMs, type Timestamp } from '@engram/tso';
import { TikvError } from '../errors.ts';
import type { CheckSecondaryLocksResponse, LockInfo } from '../proto/gen/kvrpcpb.ts';
import type { Call } from '../runtime/call.ts';
import { commands } from '../transport/commands.ts';
import { sendByRegion } from '../region/by-region.ts';
import type { RegionCalls } from '../region/region-calls.ts';
import {
  expandLock,
  type FinalStatus,
  judgeSecondaries,
  judgeTxnStatus,
  lockRemainingMs,
  type TxnState,
} from './lock.ts';
import type { StatusCache } from './status-cache.ts';

/** Locks of transactions with fewer keys are resolved key by key. For others the store scans the whole region. */
const LITE_KEYS = 16n;
const RESOLVED_REGIONS_MAX = 4_096;

interface Question {
  readonly answer: Promise<TxnState>;
  /** The highest timestamp of the readers that share the question. Raised until the question is sent. */
  callerTs: Timestamp;
  sent: boolean;
}

/** What a reader does about the locks it met: skips them, reads through them, or waits. Lists hold start timestamps. */
export interface ReadAdvice {
  readonly ignore: readonly Timestamp[];
  readonly readThrough: readonly Timestamp[];
  /** Undefined if the read can be repeated at once. */
  readonly waitMs: number | undefined;
}

/** Finds out the state of transactions that left locks, and clears the locks. */
export class LockResolver {
  readonly #calls: RegionCalls;
  readonly #statuses: StatusCache;
  readonly #questions = new Map<string, Question>();
  /** Regions in which all locks of a large transaction were resolved: "startTs/region/version". */
  readonly #resolvedRegions = new Set<string>();
  /** Locks that are being cleared: "startTs/key". */
  readonly #clearing = new Map<string, Promise<void>>();

  constructor(calls: RegionCalls, statuses: StatusCache) {
    this.#calls = calls;
    this.#statuses = statuses;
  }

  /** `again`: the read met these locks before, so the server ignores the advice. Then the locks are cleared first. */
  async forRead(
    locks: readonly LockInfo[],
    readTs: Timestamp,
    backoffer: Backoffer,
    again: boolean,
  ): Promise<ReadAdvice> {
    const ignore: Timestamp[] = [];
    const readThrough: Timestamp[] = [];
    let waitMs: number | undefined;
    const states = new Map<Timestamp, TxnState>();
    for (const lock of locks.flatMap(expandLock)) {
      const state = states.get(lock.lockVersion) ?? (await this.#settled(lock, readTs, backoffer));
      states.set(lock.lockVersion, state);
      this.#observe(state);
      if (state.kind === 'pushed') ignore.push(lock.lockVersion);
      else if (state.kind === 'committed' || state.kind === 'rolled-back') {
        if (state.kind === 'committed' && state.commitTs <= readTs) readThrough.push(lock.lockVersion);
        else ignore.push(lock.lockVersion);
        if (again) await this.#clear(lock, state, backoffer);
        else this.#clearLater(lock, state);
      } else waitMs = Math.min(waitMs ?? Number.POSITIVE_INFINITY, state.kind === 'alive' ? state.remainingMs : 0);
    }
    return { ignore, readThrough, waitMs };
  }

  /** Clears locks of finished transactions. Returns the longest time to live of the others, undefined if there are none. */
  async forWrite(locks: readonly LockInfo[], startTs: Timestamp, backoffer: Backoffer): Promise<number | undefined> {
    let waitMs: number | undefined;
    const states = new Map<Timestamp, TxnState>();
    for (const lock of locks.flatMap(expandLock)) {
      const state = states.get(lock.lockVersion) ?? (await this.#settled(lock, startTs, backoffer));
      states.set(lock.lockVersion, state);
      this.#observe(state);
      if (state.kind === 'committed' || state.kind === 'rolled-back') await this.#clear(lock, state, backoffer);
      else waitMs = Math.max(waitMs ?? 0, 'remainingMs' in state ? state.remainingMs : 0);
    }
    return waitMs;
  }

  /** For garbage collection: ends the transaction of a lock, even if it is alive. */
  async forceFinal(lock: LockInfo, backoffer: Backoffer): Promise<FinalStatus> {
    const known = this.#statuses.get(lock.lockVersion);
    if (known !== undefined) return known;
    const state = await this.#check(lock, 0n, MAX_TIMESTAMP, true, backoffer);
    const isAsync = state.kind === 'async-expired';
    const final = isAsync ? await this.#recover(lock, state.primary, backoffer, MAX_TIMESTAMP) : state;
    if (final.kind !== 'committed' && final.kind !== 'rolled-back')
      throw new TikvError('protocol-error', `a forced rollback left the transaction ${final.kind}`);
    this.#statuses.put(lock.lockVersion, final);
    return final;
  }

  /** The state of the lock's transaction as it is known now. Decides an async-commit transaction whose lock has expired. */
  async #settled(lock: LockInfo, callerTs: Timestamp, backoffer: Backoffer): Promise<TxnState> {
    const known = this.#statuses.get(lock.lockVersion);
    if (known !== undefined) return known;
    // To a reader at MAX_TIMESTAMP the store answers that the lock may be skipped, but does not push the lock's commit
    // timestamp. A snapshot cannot use that answer, so the two kinds of readers do not share a question.
    const who = callerTs === MAX_TIMESTAMP ? 'newest' : 'snapshot';
    const name = `${lock.lockVersion}/${who}/${keyText(lock.primaryLock)}`;
    for (;;) {
      let question = this.#questions.get(name);
      const own = question === undefined;
      if (question === undefined) {
        question = this.#ask(name, lock, callerTs, backoffer);
      } else if (!question.sent && callerTs > question.callerTs) question.callerTs = callerTs;
      try {
        const state = await backoffer.call.wait(question.answer);
        // The lock was pushed above a lower reader only, so this reader must ask again.
        if (state.kind === 'pushed' && question.callerTs < callerTs) continue;
        return state;
      } catch (error) {
        backoffer.call.check(error);
        if (own) throw error;
      }
    }
  }

  #ask(name: string, lock: LockInfo, callerTs: Timestamp, backoffer: Backoffer): Question {
    const question: Question = {
      callerTs,
      sent: false,
      // Readers that meet the lock in the same turn join before the question is sent.
      answer: new Promise<void>((resolve) => this.#calls.clock.soon(resolve))
        .then(() => {
          question.sent = true;
          return this.#decide(lock, question.callerTs, backoffer);
        })
        .finally(() => this.#questions.delete(name)),
    };
    question.answer.catch(() => {});
    this.#questions.set(name, question);
    return question;
  }

  async #decide(lock: LockInfo, callerTs: Timestamp, backoffer: Backoffer): Promise<TxnState> {
    const { oracle } = this.#calls.pd;
    const now = await this.#judgingTimestamp(lock, backoffer.call);
    let state = await this.#check(lock, callerTs, now, false, backoffer);
    if (state.kind === 'not-found') {
      if (lockRemainingMs(lock.lockVersion, lock.lockTtl, oracle.nowMs()) > 0) {
        await backoffer.wait(
          'txnNotFound',
          new TikvError('region-unavailable', 'the primary of a lock is not there yet'),
        );
        return state;
      }
      // The rollback record refuses a late prewrite of the primary.
      state = await this.#check(lock, callerTs, now, true, backoffer);
    }
    if (state.kind === 'async-expired') state = await this.#recover(lock, state.primary, backoffer);
    if (state.kind === 'committed' || state.kind === 'rolled-back') this.#statuses.put(lock.lockVersion, state);
    return state;
  }

  /**
   * The timestamp by which a store judges whether a lock has expired. PD must have allocated it: TiKV ends its process over a
   * timestamp from the future, even by a millisecond. The newest known timestamp is used unless the lock has expired since.
   */
  async #judgingTimestamp(lock: LockInfo, call: Call): Promise<Timestamp> {
    const { oracle } = this.#calls.pd;
    const { newest } = oracle;
    const remainingMs = (nowMs: number): number => lockRemainingMs(lock.lockVersion, lock.lockTtl, nowMs);
    const decided = remainingMs(physicalMs(newest)) < 0 || remainingMs(oracle.nowMs()) >= 0;
    return newest > 0n && decided ? newest : oracle.next(call);
  }

  async #check(
    lock: LockInfo,
    callerStartTs: Timestamp,
    currentTs: Timestamp,
    rollbackIfNotExist: boolean,
    backoffer: Backoffer,
    forceSyncCommit = false,
  ): Promise<TxnState> {
    const request = {
      primaryKey: lock.primaryLock,
      lockTs: lock.lockVersion,
      callerStartTs,
      currentTs,
      rollbackIfNotExist,
      forceSyncCommit,
      verifyIsPrimary: true,
    };
    const answer = await this.#calls.onKey(lock.primaryLock, commands.checkTxnStatus, request, backoffer);
    if (answer.error !== undefined && answer.error.txnNotFound === undefined) {
      const { primaryMismatch, abort, retryable } = answer.error;
      throw new TikvError(
        'protocol-error',
        primaryMismatch !== undefined
          ? 'a lock names a primary that is none'
          : abort || retryable || 'CheckTxnStatus failed',
      );
    }
    const nowMs = Math.max(physicalMs(currentTs), this.#calls.pd.oracle.nowMs());
    return judgeTxnStatus(lock.lockVersion, answer, nowMs);
  }

  /**
   * Decides an async-commit transaction, which is committed if and only if all its keys were locked. `currentTs`: by which the primary's
   * lock is judged where another one is plain; a new timestamp if absent.
   */
  async #recover(lock: LockInfo, primary: LockInfo, backoffer: Backoffer, currentTs?: Timestamp): Promise<TxnState> {
    const verdict = judgeSecondaries(
      primary.minCommitTs,
      await this.#checkSecondaries(primary.secondaries, lock.lockVersion, backoffer),
    );
    if (verdict.kind === 'contradiction')
      throw new TikvError('protocol-error', `transaction ${lock.lockVersion}: ${verdict.detail}`);
    if (verdict.kind === 'fell-back') {
      const now = currentTs ?? (await this.#calls.pd.oracle.next(backoffer.call));
      return this.#check(lock, 0n, now, true, backoffer, true);
    }
    this.#statuses.put(lock.lockVersion, verdict);
    await this.resolveKeys([lock.primaryLock, ...primary.secondaries], lock.lockVersion, verdict, backoffer);
    return verdict;
  }

  async #checkSecondaries(
    keys: readonly Uint8Array[],
    startVersion: Timestamp,
    backoffer: Backoffer,
  ): Promise<readonly { readonly asked: number; readonly answer: CheckSecondaryLocksResponse }[]> {
    const answers: { asked: number; answer: CheckSecondaryLocksResponse }[] = [];
    await sendByRegion(this.#calls, keys, {
      backoffer,
      keyOf: sameKey,
      send: async (region, part, relocations) => {
        const request = { keys: part, startVersion };
        const result = await this.#calls.onRegion(
          region,
          commands.checkSecondaryLocks,
          request,
          backoffer,
          relocations,
        );
        if (result.kind === 'relocate') return 'moved';
        if (result.response.error !== undefined)
          throw new TikvError('protocol-error', 'CheckSecondaryLocks met an error of a key');
        answers.push({ asked: part.length, answer: result.response });
        return 'done';
      },
    });
    return answers;
  }

  /**
   * Decides an async-commit transaction of this client by all its keys. Keys that are not locked cannot be locked any more.
   * Undefined if a key has a lock of plain two-phase commit.
   */
  async decideByKeys(
    primary: Uint8Array,
    keys: readonly Uint8Array[],
    startTs: Timestamp,
    backoffer: Backoffer,
  ): Promise<FinalStatus | undefined> {
    const verdict = judgeSecondaries(0n, await this.#checkSecondaries(keys, startTs, backoffer));
    if (verdict.kind === 'contradiction')
      throw new TikvError('protocol-error', `transaction ${startTs}: ${verdict.detail}`);
    if (verdict.kind === 'fell-back') return undefined;
    this.#statuses.put(startTs, verdict);
    await this.resolveKeys([primary, ...keys], startTs, verdict, backoffer);
    return verdict;
  }

  /** The state of a transaction of this client by its primary. If the primary has no record, the store writes a rollback. */
  checkOwn(primaryLock: Uint8Array, startTs: Timestamp, now: Timestamp, backoffer: Backoffer): Promise<TxnState> {
    return this.#check({ primaryLock, lockVersion: startTs } as LockInfo, 0n, now, true, backoffer);
  }

  /** Commits or rolls back the transaction's locks of these keys. Throws `protocol-error` if a store contradicts `status`. */
  async resolveKeys(
    keys: readonly Uint8Array[],
    startVersion: Timestamp,
    status: FinalStatus,
    backoffer: Backoffer,
  ): Promise<void> {
    const commitVersion = status.kind === 'committed' ? status.commitTs : 0n;
    await sendByRegion(this.#calls, keys, {
      backoffer,
      keyOf: sameKey,
      send: async (region, part, relocations) => {
        const request = { startVersion, commitVersion, keys: part };
        const result = await this.#calls.onRegion(region, commands.resolveLock, request, backoffer, relocations);
        if (result.kind === 'relocate') return 'moved';
        if (result.response.error !== undefined) throw resolveFailed(result.response.error);
        return 'done';
      },
    });
  }

  /** Clears a lock. Concurrent calls for one lock share the first call's attempt; if that fails, one of them starts another. */
  async #clear(lock: LockInfo, status: FinalStatus, backoffer: Backoffer): Promise<void> {
    const name = `${lock.lockVersion}/${keyText(lock.key)}`;
    for (;;) {
      const others = this.#clearing.get(name);
      if (others === undefined) break;
      try {
        return await backoffer.call.wait(others);
      } catch (error) {
        backoffer.call.check(error); // the deadline of the other call may have passed before this one's
      }
    }
    const clearing = this.#clearNow(lock, status, backoffer).finally(() => this.#clearing.delete(name));
    this.#clearing.set(name, clearing);
    return clearing;
  }

  async #clearNow(lock: LockInfo, status: FinalStatus, backoffer: Backoffer): Promise<void> {
    if (lock.txnSize < LITE_KEYS) {
      await this.resolveKeys([lock.key], lock.lockVersion, status, backoffer);
      return;
    }
    const commitVersion = status.kind === 'committed' ? status.commitTs : 0n;
    for (let relocations = 0; ; relocations += 1) {
      const region = await this.#calls.locator.locate(lock.key, backoffer);
      const name = `${lock.lockVersion}/${region.id}/${region.version}`;
      if (this.#resolvedRegions.has(name)) return this.resolveKeys([lock.key], lock.lockVersion, status, backoffer);
      const result = await this.#calls.onRegion(
        region,
        commands.resolveLock,
        { startVersion: lock.lockVersion, commitVersion },
        backoffer,
        relocations,
      );
      if (result.kind === 'relocate') continue;
      if (result.response.error !== undefined) throw resolveFailed(result.response.error);
      if (this.#resolvedRegions.size >= RESOLVED_REGIONS_MAX)
        this.#resolvedRegions.delete(this.#resolvedRegions.values().next().value!);
      this.#resolvedRegions.add(name);
      return;
    }
  }

  #clearLater(lock: LockInfo, status: FinalStatus): void {
    if (this.#clearing.has(`${lock.lockVersion}/${keyText(lock.key)}`)) return;
    const call: Call = this.#calls.backgroundCall();
    this.#calls.background.run('resolve-lock', () => this.#clear(lock, status, this.#calls.backoffer(call)));
  }

  #observe(state: TxnState): void {
    const { kind } = state;
    this.#calls.observer.lock?.(kind === 'committed' || kind === 'rolled-back' || kind === 'pushed' ? kind : 'alive');
  }
}

const resolveFailed = (error: { readonly abort: string; readonly retryable: string }): TikvError =>
  new TikvError('protocol-error', error.abort || error.retryable || 'ResolveLock met an error of a key');

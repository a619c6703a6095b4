import { compareBytes } from '@engram/core';
import type { Timestamp } from '@engram/tso';
import type { Engine } from '../engine.ts';
import { TikvError } from '../errors.ts';
import type { CallOptions } from '../runtime/call.ts';
import { CommitContext } from './commit-context.ts';
import type { CommitMode, CommitOutcome, OnePhaseOutcome } from './commit-outcome.ts';
import type { CommitOptions, OnePhaseOptions } from './commit-options.ts';
import { commit } from './committer.ts';
import { MutationBuffer, readOf } from './mutation-buffer.ts';
import { commitOnePhase, nothingToWrite } from './one-phase.ts';
import type { Entry } from './scanner.ts';
import { checkKey, type ScanOptions, Snapshot, type SnapshotOptions } from './snapshot.ts';

/**
 * An optimistic transaction with snapshot isolation. Reads see the state at `startTs` and the transaction's own writes. Writes
 * stay in memory until `commit`. Disposal without a commit drops them. Not for concurrent use by several callers.
 */
export class Transaction implements AsyncDisposable {
  readonly startTs: Timestamp;
  /** The state at `startTs`, without the transaction's own writes. */
  readonly snapshot: Snapshot;
  readonly #engine: Engine;
  readonly #buffer = new MutationBuffer();
  #ended = false;

  constructor(engine: Engine, startTs: Timestamp, options: SnapshotOptions) {
    this.#engine = engine;
    this.startTs = startTs;
    this.snapshot = new Snapshot(engine, startTs, options);
  }

  /** Number of keys that are written, locked or checked. */
  get size(): number {
    return this.#buffer.size;
  }

  async get(key: Uint8Array, options?: CallOptions): Promise<Uint8Array | undefined> {
    this.#open();
    const own = this.#buffer.read(this.#engine.codec.toStore(key));
    return own === undefined ? this.snapshot.get(key, options) : own.value;
  }

  async batchGet(keys: readonly Uint8Array[], options?: CallOptions): Promise<readonly (Uint8Array | undefined)[]> {
    this.#open();
    const own = keys.map((key) => this.#buffer.read(this.#engine.codec.toStore(key)));
    const asked = keys.filter((_, at) => own[at] === undefined);
    const values = asked.length === 0 ? [] : await this.snapshot.batchGet(asked, options);
    let next = 0;
    return own.map((buffered) => (buffered === undefined ? values[next++] : buffered.value));
  }

  /** As `Snapshot.scan`, merged with the writes that this transaction has when the scan begins. */
  async *scan(start: Uint8Array, end: Uint8Array, options: ScanOptions = {}): AsyncGenerator<Entry, void, undefined> {
    this.#open();
    const [from, to] = this.#engine.codec.rangeToStore(start, end);
    const sign = options.reverse ? -1 : 1;
    const own = this.#buffer
      .sorted({ start: from, end: to })
      .map((mutation) => ({ key: this.#engine.codec.fromStore(mutation.key), buffered: readOf(mutation) }))
      .filter(({ buffered }) => buffered !== undefined);
    if (options.reverse) own.reverse();
    const { limit = Number.POSITIVE_INFINITY, ...rest } = options;
    // Deletions of this transaction hide rows of the snapshot, so the limit grows by the number of its writes.
    const below = this.snapshot.scan(start, end, { ...rest, limit: limit + own.length });
    let left = limit;
    let at = 0;
    const ownEntries = function* (until: Uint8Array | undefined): Generator<Entry> {
      for (; at < own.length; at += 1) {
        const { key, buffered } = own[at]!;
        if (until !== undefined && sign * compareBytes(key, until) >= 0) return;
        if (buffered?.value !== undefined) yield { key, value: options.keysOnly ? new Uint8Array(0) : buffered.value };
      }
    };
    if (left <= 0) return;
    for await (const entry of below) {
      for (const mine of ownEntries(entry.key)) {
        yield mine;
        left -= 1;
        if (left <= 0) return;
      }
      if (at < own.length && compareBytes(own[at]!.key, entry.key) === 0) continue; // the own write comes with the next row, or is a deletion
      yield entry;
      left -= 1;
      if (left <= 0) return;
    }
    for (const mine of ownEntries(undefined)) {
      yield mine;
      left -= 1;
      if (left <= 0) return;
    }
  }

  /** The transaction owns the bytes until it ends. Throws `empty-value`: TiKV cannot tell an empty value from absence. */
  put(key: Uint8Array, value: Uint8Array): void {
    this.#check(key, value);
    this.#buffer.put(this.#engine.codec.toStore(key), value);
  }

  /** A put. The commit fails with `exists` if the key exists. */
  insert(key: Uint8Array, value: Uint8Array): void {
    this.#check(key, value);
    this.#buffer.insert(this.#engine.codec.toStore(key), value);
  }

  delete(key: Uint8Array): void {
    this.#check(key, undefined);
    this.#buffer.delete(this.#engine.codec.toStore(key));
  }

  /** Makes the transaction conflict with every other one that writes or locks the keys, without writing them. */
  lockKeys(...keys: readonly Uint8Array[]): void {
    for (const key of keys) {
      this.#check(key, undefined);
      this.#buffer.lock(this.#engine.codec.toStore(key));
    }
  }

  /**
   * Fails the commit with `exists` if the key exists at the moment of the prewrite. Takes no lock, so the check is atomic with
   * the writes only in one phase. See `commitOnePhase` and CommitOptions.lockUnlessOnePhase.
   */
  checkNotExists(key: Uint8Array): void {
    this.#check(key, undefined);
    this.#buffer.checkNotExists(this.#engine.codec.toStore(key));
  }

  /** Asserts that a key, which was written or locked before, exists. If it does not, the commit throws `assertion-failed`. */
  assertExists(key: Uint8Array): void {
    this.#open();
    this.#buffer.assert(this.#engine.codec.toStore(key), true);
  }

  assertNotExists(key: Uint8Array): void {
    this.#open();
    this.#buffer.assert(this.#engine.codec.toStore(key), false);
  }

  /**
   * Ends the transaction. Throws only if nothing was or will be committed. If the deadline passes or the signal fires while the
   * answer is outstanding, the result is `undetermined`.
   */
  async commit(options: CommitOptions & CallOptions = {}): Promise<CommitOutcome> {
    const { codec } = this.#engine;
    const inStore = { ...options, lockUnlessOnePhase: options.lockUnlessOnePhase?.map((key) => codec.toStore(key)) };
    return this.#end(inStore, options, {
      run: commit,
      mode: '2pc',
      empty: () => ({ kind: 'committed', commitTs: this.startTs, mode: 'read-only' }),
    });
  }

  /**
   * Ends the transaction by one evaluation in one region, without ever going on to two phases. Nothing bounds its commit
   * timestamp. So checks hold at the moment of the writes, and the start timestamp may be old: any that PD has allocated and that
   * names no other transaction (see TikvClient.timestamps). Needs at least one write or lock. Throws only if nothing was or
   * will be committed.
   */
  async commitOnePhase(options: OnePhaseOptions & CallOptions = {}): Promise<OnePhaseOutcome> {
    const { causal, assertionLevel } = options;
    return this.#end({ causal, assertionLevel }, options, {
      run: commitOnePhase,
      mode: '1pc',
      empty: () => {
        throw nothingToWrite();
      },
    });
  }

  /** Ends the transaction by `way`. Keys in `options` are store keys. */
  async #end<Outcome extends CommitOutcome | OnePhaseOutcome>(
    options: CommitOptions,
    callOptions: CallOptions,
    way: { run: (context: CommitContext) => Promise<Outcome>; mode: '1pc' | '2pc'; empty: () => Outcome },
  ): Promise<Outcome> {
    this.#open();
    this.#ended = true;
    const engine = this.#engine;
    const { bytes, size: keys } = this.#buffer;
    if (bytes > engine.settings.transactionBytesMax)
      throw new TikvError('transaction-too-large', `${bytes} > ${engine.settings.transactionBytesMax} bytes`);
    const call = engine.call(callOptions);
    const beganMs = engine.clock.nowMs();
    const endSpan = engine.observer.span?.('commit');
    let mode: CommitMode = way.mode;
    let result: Outcome['kind'] | 'failed' = 'failed';
    try {
      const allocated = engine.checkAllocated(this.startTs, call);
      if (allocated !== undefined) await allocated;
      const onePhaseOnly = way.mode === '1pc';
      const outcome =
        keys === 0
          ? way.empty()
          : await way.run(
              new CommitContext(engine, this.startTs, this.#buffer.sorted(), bytes, call, options, onePhaseOnly),
            );
      result = outcome.kind;
      if (outcome.kind === 'committed' && 'mode' in outcome) mode = outcome.mode;
      endSpan?.();
      return this.#toUser(outcome);
    } catch (error) {
      endSpan?.(error);
      throw error;
    } finally {
      const durationMs = engine.clock.nowMs() - beganMs;
      engine.observer.transaction?.({ mode, outcome: result, keys, bytes, durationMs });
    }
  }

  /** Ends the transaction without a commit. No write has been sent before, so no lock is left. */
  rollback(): void {
    this.#ended = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.rollback();
  }

  /** Translates the keys of an outcome to user keys. */
  #toUser<Outcome extends CommitOutcome | OnePhaseOutcome>(outcome: Outcome): Outcome {
    const { fromStore } = this.#engine.codec;
    if (outcome.kind === 'undetermined') return { ...outcome, primary: fromStore(outcome.primary) };
    return 'key' in outcome ? { ...outcome, key: fromStore(outcome.key) } : outcome;
  }

  #check(key: Uint8Array, value: Uint8Array | undefined): void {
    this.#open();
    const { settings } = this.#engine;
    if (key.length === 0) throw new TikvError('invalid-argument', 'a key must have at least one byte');
    checkKey(key, this.#engine);
    if (value !== undefined) {
      if (value.length === 0) throw new TikvError('empty-value');
      if (value.length > settings.valueBytesMax)
        throw new TikvError('value-too-large', `${value.length} > ${settings.valueBytesMax} bytes`);
    }
  }

  #open(): void {
    if (this.#ended) throw new TikvError('transaction-ended');
  }
}

import { encodeDeleteRecord, encodePutRecord, encodeRecord, recordKv } from '@engram/coder';
import {
  AnswerRoom,
  assert,
  type Clock,
  doAtOnce,
  EngramError,
  EVENT_PUT,
  type EventGroup,
  isEngramError,
  type KvEvent,
  type LeaseId,
  type LogPosition,
  type Revision,
  type Seal,
  Slice,
  type Txn,
} from '@engram/core';
import { type KnownValues, type PlannedTxn, Sequencer } from '@engram/sequencer';
import type { AppendOutcome, Log } from '@engram/storage';
import { Writer } from '@engram/writer';
import { answerTxn, type PlannedRange } from './answer.ts';
import type { Origin } from './caller.ts';
import type { CommittedWrite, Mark } from './committed-write.ts';
import type { StoreObserver } from './observer.ts';
import type { PendingLeases } from './pending-leases.ts';
import { type PendingWrite, PendingWrites, type WriteEnd } from './pending-writes.ts';
import type { Replica } from './replica.ts';
import type { TxnResult } from './store.ts';
import { NeededValues } from './needed-values.ts';

export interface WritePathOptions {
  readonly replica: Replica;
  readonly leases: PendingLeases;
  readonly log: Log;
  /** Holds the log. */
  readonly seal: Seal;
  readonly clock: Clock;
  readonly observer: StoreObserver;
  readonly batchBytesMax: number;
  /** Above it new writes are refused with TooManyRequests. */
  readonly waitingBytesMax: number;
  /** A write that has not taken effect by then is answered Timeout; it may take effect later. */
  readonly timeoutMs: number;
  /** The log took no more: `fenced` by a later epoch, or nobody knows. What was not durable is undone by then. */
  readonly onStopped: (outcome: Exclude<AppendOutcome, { kind: 'committed' }>) => void;
  /** An invariant is broken: the node must end. */
  readonly onFatal: (error: Error) => void;
}

const boundless = new AnswerRoom(Number.POSITIVE_INFINITY);

/** A write that waits until all that was sequenced before it has taken effect. */
interface Waiter {
  readonly next: LogPosition;
  readonly write: PendingWrite;
}

/**
 * The way of a write on the leader: sequenced in memory, appended with others, handed to the replica when it is durable,
 * answered when it has taken effect. What is sequenced is in the index above the replica's revision, where no reader
 * looks; `halt` takes it out again.
 */
export class WritePath {
  readonly #options: WritePathOptions;
  readonly #sequencer: Sequencer<PlannedRange>;
  readonly #writer: Writer<PendingWrite>;
  readonly #pending = new PendingWrites();
  readonly #waiters: Waiter[] = [];
  readonly #neverAborted = new AbortController().signal;
  #watching = false;
  #halted = false;
  /** The oldest revision that the plans of the transaction being sequenced must keep. */
  #lowestPinned = Number.POSITIVE_INFINITY;

  constructor(options: WritePathOptions) {
    this.#options = options;
    const { replica } = options;
    const { state, scanner } = replica;
    assert(replica.applied === replica.next, 'a leadership begins before the replica has settled');
    replica.cache.forgetPending(replica.next);
    this.#sequencer = new Sequencer<PlannedRange>({
      versions: state.index,
      leases: options.leases,
      encoder: changeEncoder,
      ranges: {
        plan: (op, at, pinned) => {
          if (!op.countOnly && pinned < this.#lowestPinned) this.#lowestPinned = pinned;
          return { plan: doAtOnce(scanner.plan(op, at, boundless, new Slice())), pinned };
        },
      },
      revision: state.revision,
      next: replica.next,
    });
    this.#writer = new Writer<PendingWrite>({
      log: options.log,
      seal: options.seal,
      clock: options.clock,
      next: replica.next,
      batchBytesMax: options.batchBytesMax,
      onAppending: (writes) => replica.prefetch(writes),
      onAppended: (durationMs, records, bytes) => {
        this.#appendedBytes = bytes;
        options.observer.appended?.(durationMs, records, bytes);
      },
      onCommitted: (writes, durable) => this.#committed(writes, durable),
      onStopped: (outcome, writes) => this.#stopped(outcome, writes),
    });
  }

  #appendedBytes = 0;

  /** What was decided last, durable or not. */
  get sequenced(): { readonly revision: Revision; readonly next: LogPosition } {
    return { revision: this.#sequencer.dealt, next: this.#sequencer.next };
  }

  /** Everything that was sequenced has taken effect. */
  get isSettled(): boolean {
    return this.#sequencer.next === this.#options.replica.applied;
  }

  get waitingBytes(): number {
    return this.#writer.waitingBytes;
  }

  txn(txn: Txn, origin: Origin | undefined): Promise<TxnResult> {
    this.admit();
    const needs = this.#sequencer.needs(txn);
    if (needs.length === 0) return this.#sequence(txn, origin, nothingNeeded);
    const values = new NeededValues(this.#options.replica);
    const missing = values.collect(needs);
    return missing.length === 0
      ? this.#sequence(txn, origin, values)
      : this.#loadAndSequence(txn, origin, values, missing);
  }

  /** A record without a revision; resolves when it has taken effect. */
  mark(mark: Mark, origin: Origin | undefined): Promise<Revision> {
    this.admit();
    this.#sequencer.dealPosition();
    const write = { mark, group: undefined, origin };
    return this.#enqueue(write, [encodeRecord(mark)], undefined, () => this.#options.replica.revision);
  }

  /** A record, and with it in one revision the end of those of these keys that are attached to the lease. */
  markAndDelete(
    mark: Mark,
    keys: readonly Uint8Array[],
    attachedTo: LeaseId,
    origin: Origin | undefined,
  ): Promise<Revision> {
    this.admit();
    this.#sequencer.dealPosition();
    const { events, records } = this.#guarded(() => this.#sequencer.deleteKeys(keys, attachedTo));
    const group = this.#groupOf(events);
    return this.#enqueue(
      { mark, group, origin },
      [encodeRecord(mark), ...records],
      undefined,
      () => group?.revision ?? this.#options.replica.revision,
    );
  }

  /** Resolves when everything that is sequenced now has taken effect; at once where it has. */
  settled(): Promise<void> | undefined {
    return this.isSettled ? undefined : this.#whenSettled(undefined, () => undefined);
  }

  /** Resolves when nothing is under way any more. */
  drained(): Promise<void> {
    return this.#writer.drained();
  }

  /** Throws when no write can be taken now. To be called before anything is changed that only the write makes true. */
  admit(): void {
    if (this.#halted) throw new EngramError('LeaderChanged');
    if (this.#writer.stopped) throw new EngramError('Stopped');
    if (this.#writer.waitingBytes > this.#options.waitingBytesMax) throw new EngramError('TooManyRequests');
  }

  /**
   * Ends it: what has not left for the log is undone and fails with LeaderChanged. Resolves when the append that was
   * under way has settled: it took effect, or it is undone as well.
   */
  async halt(): Promise<void> {
    this.#halted = true;
    this.#undo(this.#writer.halt(), new EngramError('LeaderChanged'));
    this.#failWaiters(new EngramError('LeaderChanged'));
    await this.#writer.drained();
  }

  /** The versions may be others by the time the values are there: it is asked again until all that it needs is at hand. */
  async #loadAndSequence(
    txn: Txn,
    origin: Origin | undefined,
    values: NeededValues,
    first: readonly LogPosition[],
  ): Promise<TxnResult> {
    for (let missing = first; missing.length > 0; missing = values.collect(this.#sequencer.needs(txn))) {
      await values.load(missing, this.#neverAborted);
      this.admit();
    }
    return this.#sequence(txn, origin, values);
  }

  #sequence(txn: Txn, origin: Origin | undefined, values: KnownValues): Promise<TxnResult> {
    const { replica } = this.#options;
    this.#lowestPinned = Number.POSITIVE_INFINITY;
    let decided: ReturnType<Sequencer<PlannedRange>['sequence']>;
    try {
      decided = this.#guarded(() => this.#sequencer.sequence(txn, replica.state.compactRevision, values));
    } catch (error) {
      return this.#refuse(error);
    }
    const { planned, events, records } = decided;
    const lowest = this.#lowestPinned;
    if (events.length === 0 && this.isSettled) return this.#answer(planned);
    const pin = lowest === Number.POSITIVE_INFINITY ? undefined : replica.pins.hold(lowest as Revision);
    const answer = (): Promise<TxnResult> | TxnResult => answerTxn(planned, replica.scanner, this.#neverAborted);
    // What it read may not be durable yet: the answer waits for it, as one that writes waits for its own records.
    if (events.length === 0) return this.#whenSettled(pin, answer);
    const write = { mark: undefined, group: this.#groupOf(events), origin };
    return this.#enqueue(write, records, pin, answer);
  }

  /** A refusal may rest on a write that is under way: it is told when that has taken effect. */
  async #refuse(error: unknown): Promise<never> {
    if (isEngramError(error) && !this.#halted) await this.settled();
    throw error;
  }

  async #answer(planned: PlannedTxn<PlannedRange>): Promise<TxnResult> {
    return answerTxn(planned, this.#options.replica.scanner, this.#neverAborted);
  }

  /** What is thrown between a write's first change and its place in the queue leaves index and log apart: the node ends. */
  #guarded<Result>(change: () => Result): Result {
    try {
      return change();
    } catch (error) {
      if (isEngramError(error) && !this.#sequencer.broken) throw error;
      const fatal = new Error('a write was left half sequenced', { cause: error });
      this.#halted = true;
      this.#options.onFatal(fatal);
      throw new EngramError('Stopped', { cause: fatal });
    }
  }

  #groupOf(events: readonly KvEvent[]): EventGroup | undefined {
    const first = events[0];
    if (first === undefined) return undefined;
    const { observer, replica } = this.#options;
    for (const event of events) {
      replica.cache.addPending(event.position, event.kv);
      if (event.type === EVENT_PUT) observer.put?.(event.kv.length);
      else observer.deleted?.();
    }
    return { revision: first.modRevision, events };
  }

  #enqueue<Answer>(
    effect: CommittedWrite,
    records: readonly Uint8Array[],
    pin: Disposable | undefined,
    answer: () => Answer | Promise<Answer>,
  ): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const write = this.#track(effect, { answer: answering(answer, resolve, reject), reject, pin });
      this.#guarded(() => this.#writer.enqueue(write, this.#withOrigin(records, effect.origin)));
    });
  }

  /** Answers when everything that is sequenced now has taken effect. */
  #whenSettled<Answer>(pin: Disposable | undefined, answer: () => Answer | Promise<Answer>): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const write = this.#track(noEffect, { answer: answering(answer, resolve, reject), reject, pin });
      if (this.isSettled) write.settle();
      else if (this.#halted) write.fail(new EngramError('LeaderChanged'));
      else this.#waiters.push({ next: this.#sequencer.next, write });
    });
  }

  #withOrigin(records: readonly Uint8Array[], origin: Origin | undefined): readonly Uint8Array[] {
    if (origin === undefined) return records;
    this.#sequencer.dealPosition();
    return [...records, encodeRecord({ kind: 'origin', ...origin })];
  }

  #committed(writes: readonly PendingWrite[], durable: LogPosition): void {
    const next = (durable + 1) as LogPosition;
    this.#options.replica.apply(writes, next, this.#appendedBytes, () => this.#applied(writes, next));
  }

  #applied(writes: readonly PendingWrite[], next: LogPosition): void {
    for (const write of writes) {
      this.#options.leases.applied(write);
      write.settle();
    }
    this.#settleWaiters(next);
  }

  #settleWaiters(next: LogPosition): void {
    const waiters = this.#waiters;
    let settled = 0;
    while (settled < waiters.length && waiters[settled]!.next <= next) settled += 1;
    if (settled === 0) return;
    for (const { write } of waiters.splice(0, settled)) write.settle();
  }

  #failWaiters(error: Error): void {
    for (const { write } of this.#waiters.splice(0)) write.fail(error);
  }

  #track(effect: CommittedWrite, end: WriteEnd): PendingWrite {
    const pending = this.#pending.add(effect, this.#options.clock.nowMs(), end);
    if (!this.#watching) this.#watchTimeouts();
    return pending;
  }

  /** One timer for all. */
  #watchTimeouts(): void {
    this.#watching = true;
    const { clock, timeoutMs } = this.#options;
    clock.after(timeoutMs / 4, () => {
      this.#watching = false;
      const nowMs = clock.nowMs();
      let oldest = this.#pending.oldest();
      while (oldest !== undefined && oldest.startMs + timeoutMs <= nowMs) {
        oldest.fail(new EngramError('Timeout'));
        oldest = this.#pending.oldest();
      }
      if (oldest !== undefined) this.#watchTimeouts();
    });
  }

  #stopped(outcome: Exclude<AppendOutcome, { kind: 'committed' }>, writes: readonly PendingWrite[]): void {
    const told = this.#halted;
    this.#halted = true;
    if (outcome.kind === 'fenced') {
      this.#undo(writes, new EngramError('LeaderChanged'));
      this.#failWaiters(new EngramError('LeaderChanged'));
      if (!told) this.#options.onStopped(outcome);
      return;
    }
    // Nobody knows whether the batch is there, so it can be neither applied nor undone: the node must start anew.
    const error = new EngramError('Stopped', { cause: outcome.cause });
    for (const write of writes) write.fail(error);
    this.#failWaiters(error);
    this.#options.onStopped(outcome);
  }

  /** Takes versions that will never be durable out of the index, the newest first; then all is as if nobody had asked. */
  #undo(writes: readonly PendingWrite[], error: Error): void {
    const { index } = this.#options.replica.state;
    for (let at = writes.length - 1; at >= 0; at -= 1) {
      const events = writes[at]!.group?.events ?? [];
      for (let sub = events.length - 1; sub >= 0; sub -= 1) {
        const { key, position } = events[sub]!;
        const head = index.head(key);
        assert(head >= 0 && index.position(head) === position, 'undone out of order');
        index.undo(head);
      }
    }
    for (const write of writes) write.fail(error);
  }
}

/** An answer that cannot be built fails its own write, not the batch that it came with. */
function answering<Answer>(
  answer: () => Answer | Promise<Answer>,
  resolve: (answer: Answer | Promise<Answer>) => void,
  reject: (error: unknown) => void,
): () => void {
  return () => {
    try {
      resolve(answer());
    } catch (error) {
      reject(error);
    }
  };
}

const noEffect: CommittedWrite = { mark: undefined, group: undefined, origin: undefined };

const nothingNeeded: KnownValues = {
  value: (position) => {
    throw new Error(`the value at ${position} was not said to be needed`);
  },
};

const changeEncoder = {
  put(change: Parameters<typeof encodePutRecord>[1] & { readonly sub: number }) {
    const record = encodePutRecord(change.sub, change);
    return { record, kv: recordKv(record) };
  },
  delete(sub: number, key: Uint8Array, modRevision: Revision) {
    const record = encodeDeleteRecord(sub, key, modRevision);
    return { record, kv: recordKv(record) };
  },
};

import {
  encodeDeleteRecord,
  encodePutRecord,
  encodeRecord,
  keyValueValue,
  type LogRecord,
  recordKv,
} from '@engram/coder';
import {
  type Clock,
  EngramError,
  EVENT_PUT,
  type EventGroup,
  type KvEvent,
  type LeaseId,
  type Logger,
  type LogPosition,
  logPosition,
  type Revision,
  revision as toRevision,
  type Seal,
  type Txn,
} from '@engram/core';
import type { Pins, RecordCache, Scanner, VersionBytes } from '@engram/scanner';
import type { AppendOutcome, Log } from '@engram/storage';
import { type KnownValues, type PlannedTxn, Sequencer } from '@engram/tso';
import type { WatchHub } from '@engram/watch-hub';
import { Writer } from '@engram/writer';
import { answerTxn, type PlannedRange } from './answer.ts';
import type { StoreObserver } from './observer.ts';
import { type Pending, PendingWrites } from './pending-writes.ts';
import { type PendingWrite, Publisher } from './publisher.ts';
import type { ReplicatedState } from './replicated-state.ts';
import type { TxnResult } from './store.ts';

export interface WritePathOptions {
  readonly state: ReplicatedState;
  readonly log: Log;
  readonly seal: Seal;
  readonly next: LogPosition;
  readonly hub: WatchHub;
  readonly cache: RecordCache;
  readonly bytes: VersionBytes;
  readonly scanner: Scanner;
  readonly pins: Pins;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: StoreObserver;
  readonly onAppended: (durationMs: number, records: number, bytes: number) => void;
  readonly batchBytesMax: number;
  /** Above it new writes are refused with TooManyRequests. */
  readonly waitingBytesMax: number;
  /** A write that is not durable by then is answered Timeout; it may become durable later. */
  readonly timeoutMs: number;
  /** Storage took no write, or not for certain: nothing more can be acknowledged by this node. */
  readonly onFatal: (error: Error) => void;
}

/**
 * The way of a write: sequenced in memory, appended with others, published, answered. What is sequenced is in the index
 * above `revision`, where no reader looks; `revision` moves when a batch is durable and its events are with the hub.
 */
export class WritePath {
  readonly #options: WritePathOptions;
  readonly #sequencer: Sequencer<PlannedRange>;
  readonly #writer: Writer<PendingWrite>;
  readonly #publisher: Publisher;
  readonly #pending = new PendingWrites();
  readonly #neverAborted = new AbortController().signal;
  #visible: Revision;
  #durableNext: LogPosition;
  #watching = false;
  /** The oldest revision that a range of the transaction being sequenced reads. */
  #lowestRead = Number.POSITIVE_INFINITY;
  #bytesAppended = 0;

  constructor(options: WritePathOptions) {
    this.#options = options;
    const { state, bytes, hub, scanner, cache } = options;
    this.#visible = state.revision;
    this.#durableNext = options.next;
    this.#sequencer = new Sequencer<PlannedRange>({
      versions: state.index,
      leases: state.lessor,
      encoder: changeEncoder,
      ranges: {
        plan: (op, at) => {
          if (!op.countOnly && at < this.#lowestRead) this.#lowestRead = at;
          return { plan: scanner.plan(op, at), at };
        },
      },
      revision: state.revision,
      next: options.next,
    });
    this.#publisher = new Publisher({
      hub,
      cache,
      bytes,
      scanner,
      revision: state.revision,
      onVisible: (revision, durable) => this.#show(revision, durable),
      onSettled: () => this.#settleWaiters(),
      onFailed: (cause) => this.#fail(new Error('superseded versions could not be read for watchers', { cause })),
    });
    this.#writer = new Writer<PendingWrite>({
      log: options.log,
      seal: options.seal,
      clock: options.clock,
      next: options.next,
      batchBytesMax: options.batchBytesMax,
      onAppending: (writes) => this.#publisher.prefetch(writes),
      onCommitted: (writes, durable) => this.#publisher.publish(writes, durable),
      onStopped: (outcome, writes) => this.#stopped(outcome, writes),
      onAppended: (durationMs, records, appendedBytes) => {
        this.#bytesAppended += appendedBytes;
        options.onAppended(durationMs, records, appendedBytes);
      },
    });
  }

  /** What readers see: durable, and published to watchers. */
  get revision(): Revision {
    return this.#visible;
  }

  /** What was decided last, durable or not. */
  get sequenced(): { readonly revision: Revision; readonly next: LogPosition } {
    return { revision: this.#sequencer.dealt, next: this.#sequencer.next };
  }

  get stopped(): boolean {
    return this.#writer.stopped;
  }

  /** Since the start, in the log. */
  get bytesAppended(): number {
    return this.#bytesAppended;
  }

  txn(txn: Txn): Promise<TxnResult> {
    this.admit();
    const needs = this.#sequencer.needs(txn);
    if (needs.length > 0) {
      const missing = needs.filter((position) => this.#options.bytes.peek(position) === undefined);
      if (missing.length > 0) return this.#loadAndSequence(txn, missing);
    }
    return this.#sequence(txn, this.#inMemory);
  }

  /**
   * A record without a revision; resolves when it is durable. `apply` is what it means for the state, and runs in the
   * order of the log, before anything that comes later is answered.
   */
  append(record: LogRecord, apply: () => void = nothing): Promise<Revision> {
    this.admit();
    this.#sequencer.dealPosition();
    return this.#enqueue(undefined, [encodeRecord(record)], () => {
      apply();
      return this.#visible;
    });
  }

  /** The end of a lease: its keys go in one revision, together with the record. The lessor has let go of it already. */
  revoke(id: LeaseId, keys: readonly Uint8Array[]): Promise<Revision> {
    this.admit();
    this.#sequencer.dealPosition();
    const { events, records } = this.#sequencer.deleteKeys(keys);
    const group = this.#groupOf(events);
    return this.#enqueue(
      group,
      [encodeRecord({ kind: 'lease-revoke', id }), ...records],
      () => group?.revision ?? this.#visible,
    );
  }

  /** Resolves when every record before `next` is durable and visible. */
  async durable(next: LogPosition): Promise<void> {
    while (this.#durableNext < next) {
      if (this.#writer.stopped) throw new EngramError('Stopped');
      await this.#whenVisible(() => undefined);
    }
  }

  /** Resolves when nothing is under way any more. */
  drained(): Promise<void> {
    return this.#writer.drained();
  }

  /** Throws when no write can be taken now. To be called before anything is changed that only the write makes true. */
  admit(): void {
    if (this.#writer.stopped) throw new EngramError('Stopped');
    if (this.#writer.waitingBytes > this.#options.waitingBytesMax) throw new EngramError('TooManyRequests');
  }

  /**
   * Loads values that the decision needs. The versions may be others by then: those are newer than what was loaded, so
   * they are in memory, and the decision is taken as soon as all that it needs is there.
   */
  async #loadAndSequence(txn: Txn, first: readonly LogPosition[]): Promise<TxnResult> {
    const loaded = new Map<LogPosition, Uint8Array>();
    for (let missing = first; missing.length > 0; ) {
      const kvs = await this.#options.scanner.versions(
        missing,
        this.#options.state.compactRevision,
        this.#neverAborted,
      );
      for (let at = 0; at < missing.length; at += 1) loaded.set(missing[at]!, kvs[at]!);
      missing = this.#sequencer
        .needs(txn)
        .filter((position) => !loaded.has(position) && this.#options.bytes.peek(position) === undefined);
    }
    this.admit();
    return this.#sequence(txn, {
      value: (position) => {
        const kv = loaded.get(position);
        return kv === undefined ? this.#inMemory.value(position) : keyValueValue(kv);
      },
    });
  }

  readonly #inMemory: KnownValues = { value: (position) => keyValueValue(this.#options.bytes.peek(position)!) };

  #sequence(txn: Txn, values: KnownValues): Promise<TxnResult> {
    this.#lowestRead = Number.POSITIVE_INFINITY;
    const { compactRevision } = this.#options.state;
    const { planned, events, records } = this.#sequencer.sequence(txn, compactRevision, values);
    if (events.length === 0 && this.#sequencer.dealt === this.#visible) return this.#answer(planned);
    const pin = Number.isFinite(this.#lowestRead) ? this.#options.pins.hold(toRevision(this.#lowestRead)) : undefined;
    const answer = (): Promise<TxnResult> | TxnResult => {
      const result = answerTxn(planned, this.#options.scanner, this.#neverAborted);
      pin?.[Symbol.dispose]();
      return result;
    };
    // What it read may not be durable yet: the answer waits for it, as one that writes waits for its own records.
    if (events.length === 0) return this.#whenVisible(answer);
    return this.#enqueue(this.#groupOf(events), records, answer);
  }

  async #answer(planned: PlannedTxn<PlannedRange>): Promise<TxnResult> {
    return answerTxn(planned, this.#options.scanner, this.#neverAborted);
  }

  #groupOf(events: readonly KvEvent[]): EventGroup | undefined {
    const first = events[0];
    if (first === undefined) return undefined;
    const { cache, observer } = this.#options;
    for (const event of events) {
      cache.addPending(event.position, event.kv);
      if (event.type === EVENT_PUT) observer.put?.(event.kv.length);
      else observer.deleted?.();
    }
    return { revision: first.modRevision, events };
  }

  #enqueue<Answer>(
    group: EventGroup | undefined,
    records: readonly Uint8Array[],
    answer: () => Answer | Promise<Answer>,
  ): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      this.#writer.enqueue(this.#track(group, answering(answer, resolve, reject), reject), records);
    });
  }

  readonly #visibleWaiters: { readonly revision: Revision; readonly next: LogPosition; readonly write: Pending }[] = [];

  /** Answers when everything that is sequenced now is visible. */
  #whenVisible<Answer>(answer: () => Answer | Promise<Answer>): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const write = this.#track(undefined, answering(answer, resolve, reject), reject);
      const { revision, next } = this.sequenced;
      if (this.#durableNext >= next) write.settle();
      else this.#visibleWaiters.push({ revision, next, write });
    });
  }

  #show(revision: Revision, durable: LogPosition): void {
    this.#visible = revision;
    this.#options.state.revision = revision;
    this.#durableNext = logPosition(durable + 1);
  }

  #settleWaiters(): void {
    let settled = 0;
    while (settled < this.#visibleWaiters.length && this.#visibleWaiters[settled]!.next <= this.#durableNext)
      settled += 1;
    if (settled === 0) return;
    for (const { write } of this.#visibleWaiters.splice(0, settled)) write.settle();
  }

  #track(group: EventGroup | undefined, answer: () => void, reject: (error: Error) => void): Pending {
    const pending = this.#pending.add(group, this.#options.clock.nowMs(), answer, reject);
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
    const cause = outcome.kind === 'uncertain' ? outcome.cause : new Error('a later epoch has sealed the log');
    for (const write of writes)
      write.fail(new EngramError(outcome.kind === 'fenced' ? 'LeaderChanged' : 'Stopped', { cause }));
    this.#fail(new Error(`the log took no more writes: ${outcome.kind}`, { cause }));
  }

  #fail(error: Error): void {
    for (const { write } of this.#visibleWaiters.splice(0)) write.fail(new EngramError('Stopped', { cause: error }));
    this.#options.onFatal(error);
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

const nothing = (): void => undefined;

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

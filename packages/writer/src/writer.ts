import {
  assert,
  type Clock,
  type LogPosition,
  logPosition,
  type Seal,
  type Span,
  type Timer,
  Waiters,
} from '@engram/core';
import { type AppendOutcome, type Log, recordBytes } from '@engram/storage';
import { Regroup } from './regroup.ts';

/** One write on its way to the log. Its records stay together. `entry` is given back when their outcome is known. */
interface Waiting<Entry> {
  readonly entry: Entry;
  readonly records: readonly Uint8Array[];
  readonly bytes: number;
}

/** A batch that the log has. */
export interface DurableBatch<Entry> {
  readonly entries: readonly Entry[];
  /** Behind its last record. */
  readonly next: LogPosition;
  readonly records: number;
  readonly bytes: number;
  /** When it left for the log and when the log had it, by the clock. */
  readonly startMs: number;
  readonly durableMs: number;
}

/** What follows the stage of appends. */
export interface AppendNext<Entry> {
  /** A batch leaves for the log, at `nowMs`. Returns what records its append; undefined: it is not recorded. */
  appending(entries: readonly Entry[], nowMs: number): Span | undefined;
  /** Called in the order of the log, once for each batch. */
  durable(batch: DurableBatch<Entry>): void;
  /** The log refused or lost the batch. `entries` are its writes and all that were enqueued later. None is acknowledged. */
  stopped(outcome: Exclude<AppendOutcome, { kind: 'committed' }>, entries: readonly Entry[]): void;
}

export interface WriterOptions<Entry> {
  readonly log: Log;
  /** The seal with which this writer holds the log. */
  readonly seal: Seal;
  readonly clock: Pick<Clock, 'nowMs' | 'after'>;
  /** Calls `fire` once the input that is already there has been read. */
  readonly soon: (fire: () => void) => void;
  /** The position of the first record that will be written. */
  readonly first: LogPosition;
  /** A batch is closed before it grows past this. A single larger write goes alone. */
  readonly batchBytesMax: number;
  /**
   * A write with more records goes alone, in the list in which it came, so that no request waits while the list is
   * copied.
   */
  readonly sharingRecordsMax?: number;
  readonly next: AppendNext<Entry>;
}

/**
 * Group commit: one open batch gathers writes while the batch before it is being made durable. So one sync serves all
 * writes that came in that time. If no append is under way, the batch leaves once the input that is already there has
 * been read (`WriterOptions.soon`). So a burst that arrives in one turn of the event loop costs one sync, not one for its
 * first write and another for the rest. After a slow append the next one may wait for the writers that it has answered
 * (`Regroup`).
 *
 * Invariants: at most one append is under way. Batches leave in the order in which their writes were enqueued. After
 * an append that did not commit nothing more is appended, because nothing may be acknowledged after a gap.
 */
export class Writer<Entry> {
  readonly #options: WriterOptions<Entry>;
  #open: Waiting<Entry>[] = [];
  #openBytes = 0;
  #next: LogPosition;
  #appending = false;
  #scheduled = false;
  #stopped = false;
  readonly #idle = new Waiters();
  readonly #regroup = new Regroup();
  /** The open batch waits for `answered` writers. It had `before` writes when the wait began. */
  #wait: { readonly timer: Timer; readonly answered: number; readonly before: number } | undefined;

  constructor(options: WriterOptions<Entry>) {
    this.#options = options;
    this.#next = options.first;
  }

  /** Bytes that wait for an append. The caller refuses new writes above its bound. */
  get waitingBytes(): number {
    return this.#openBytes;
  }

  get waitingWrites(): number {
    return this.#open.length;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Enqueues a write. Its records, `bytes` together, take the next positions of the log, in the order of the calls. */
  enqueue(entry: Entry, records: readonly Uint8Array[], bytes: number = recordBytes(records)): void {
    assert(!this.#stopped, 'a write was enqueued after the writer had stopped');
    assert(records.length > 0, 'a write without records was enqueued');
    this.#open.push({ entry, records, bytes });
    this.#openBytes += bytes;
    if (this.#wait === undefined) this.#schedule();
    else if (this.#open.length >= this.#wait.before + this.#wait.answered || this.#isFull) this.#endWait();
  }

  /**
   * Ends the writer: nothing more is appended. Returns the writes that have not left for the log, in the order of the
   * calls. An append that is under way still settles by `durable` or `stopped`, and `drained` resolves after it.
   */
  halt(): readonly Entry[] {
    this.#stopped = true;
    const open = this.#open.map((waiting) => waiting.entry);
    this.#open = [];
    this.#openBytes = 0;
    this.#wait?.timer.cancel();
    this.#wait = undefined;
    if (!this.#appending) this.#idle.wakeAll();
    return open;
  }

  /** Resolves when everything that was enqueued before is durable, or the writer has stopped. */
  drained(): Promise<void> {
    if (this.#open.length === 0 && !this.#appending) return Promise.resolve();
    return this.#idle.next();
  }

  #schedule(): void {
    if (this.#appending || this.#scheduled) return;
    this.#scheduled = true;
    this.#options.soon(() => {
      this.#scheduled = false;
      if (!this.#appending && !this.#stopped) this.#append();
    });
  }

  #append(): void {
    if (this.#open.length === 0) return;
    const { entries, records, bytes } = this.#takeBatch();
    const first = this.#next;
    this.#next = logPosition(this.#next + records.length);
    this.#appending = true;
    const startMs = this.#options.clock.nowMs();
    const span = this.#options.next.appending(entries, startMs);
    const batch = span === undefined ? { first, records } : { first, records, span };
    this.#options.log.append(batch, this.#options.seal).then(
      (outcome) => {
        span?.end(outcome.kind === 'committed' ? undefined : new Error(`the append is ${outcome.kind}`));
        this.#settle(outcome, { entries, next: this.#next, records: records.length, bytes, startMs });
      },
      (cause: unknown) => {
        span?.end(cause);
        this.#stop({ kind: 'uncertain', cause }, entries);
      },
    );
  }

  #takeBatch(): { entries: readonly Entry[]; records: readonly Uint8Array[]; bytes: number } {
    const { batchBytesMax, sharingRecordsMax = Number.POSITIVE_INFINITY } = this.#options;
    const first = this.#open[0]!;
    if (first.records.length > sharingRecordsMax) {
      this.#open = this.#open.slice(1);
      this.#openBytes -= first.bytes;
      return { entries: [first.entry], records: first.records, bytes: first.bytes };
    }
    const entries: Entry[] = [];
    const records: Uint8Array[] = [];
    let bytes = 0;
    let taken = 0;
    for (const waiting of this.#open) {
      if (taken > 0 && bytes + waiting.bytes > batchBytesMax) break;
      if (waiting.records.length > sharingRecordsMax) break;
      bytes += waiting.bytes;
      entries.push(waiting.entry);
      for (const record of waiting.records) records.push(record);
      taken += 1;
    }
    this.#open = taken === this.#open.length ? [] : this.#open.slice(taken);
    this.#openBytes -= bytes;
    return { entries, records, bytes };
  }

  #settle(outcome: AppendOutcome, batch: Omit<DurableBatch<Entry>, 'durableMs'>): void {
    const { entries, startMs } = batch;
    if (outcome.kind !== 'committed') {
      this.#stop(outcome, entries);
      return;
    }
    const durableMs = this.#options.clock.nowMs();
    this.#appending = false;
    const waitMs = this.#open.length === 0 || this.#isFull ? 0 : this.#regroup.waitMs(durableMs - startMs);
    if (waitMs > 0) this.#waitFor(entries.length, waitMs);
    // The next append starts before the answers of this one are built, so that the disk works meanwhile.
    else this.#append();
    this.#options.next.durable({ ...batch, durableMs });
    if (!this.#appending && this.#open.length === 0) this.#idle.wakeAll();
  }

  get #isFull(): boolean {
    return this.#openBytes >= this.#options.batchBytesMax;
  }

  #waitFor(answered: number, waitMs: number): void {
    const timer = this.#options.clock.after(waitMs, () => this.#endWait());
    this.#wait = { timer, answered, before: this.#open.length };
  }

  #endWait(): void {
    assert(this.#wait !== undefined, 'a wait ended twice');
    const { timer, answered, before } = this.#wait;
    timer.cancel();
    this.#wait = undefined;
    this.#regroup.waited(answered, this.#open.length - before);
    this.#schedule();
  }

  #stop(outcome: Exclude<AppendOutcome, { kind: 'committed' }>, appended: readonly Entry[]): void {
    this.#stopped = true;
    this.#appending = false;
    const lost = [...appended, ...this.#open.map((waiting) => waiting.entry)];
    this.#open = [];
    this.#openBytes = 0;
    this.#options.next.stopped(outcome, lost);
    this.#idle.wakeAll();
  }
}

import { assert, type LogPosition, logPosition, type Seal } from '@engram/core';
import type { AppendOutcome, Log, LogBatch } from '@engram/storage';
import { PeerError } from './peers.ts';

/** What followers that lag a little are served from; those further behind read the log. */
const KEPT_BYTES_MAX = 32 * 1024 * 1024;

/**
 * The batches that this node has appended lately, for its followers, and those that it read when it took over: they are what
 * the leader before had no answer for, so followers lack them, too. They are final facts: a follower may take them even
 * from a node that does not know yet that it leads no more.
 */
export class CommittedFeed {
  readonly #keptBytesMax: number;
  #kept: LatestBatches;
  /** Behind the last batch; undefined: nothing was appended since `begin`. */
  #next: LogPosition | undefined;
  #open = false;
  #wake: (() => void)[] = [];

  constructor(keptBytesMax = KEPT_BYTES_MAX) {
    this.#keptBytesMax = keptBytesMax;
    this.#kept = this.latest();
  }

  /** Keeps as many batches as a feed does. */
  latest(): LatestBatches {
    return new LatestBatches(this.#keptBytesMax);
  }

  /** A leadership begins, whose first append takes this position. */
  begin(next: LogPosition): void {
    this.#kept = this.latest();
    this.#next = next;
    this.#open = true;
    this.#wakeAll();
  }

  /** What the log had before `begin`'s position. Nothing where it does not go up to there, or something was pushed since. */
  precede(batches: LatestBatches): void {
    const last = batches.list.at(-1);
    if (last === undefined || this.#kept.list.length > 0 || endOf(last) !== this.#next) return;
    this.#kept = batches;
    this.#wakeAll();
  }

  /** The leadership has ended: so do those who follow. */
  end(): void {
    this.#open = false;
    this.#wakeAll();
  }

  get isOpen(): boolean {
    return this.#open;
  }

  push(batch: LogBatch): void {
    assert(batch.first === this.#next, 'a batch that does not follow the one before');
    this.#kept.push(batch);
    this.#next = endOf(batch);
    this.#wakeAll();
  }

  /** See `Peers.follow`. Whoever reads too slowly is told that he is behind. */
  async *follow(from: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    const wake = (): void => this.#wakeAll();
    // Once for the whole stream: a listener for each wait would stay with the signal, and each would make the next dearer.
    signal.addEventListener('abort', wake);
    try {
      for (let position = from; this.#open && !signal.aborted; ) {
        const batch = this.#at(position);
        if (batch === undefined) {
          await this.#more();
          continue;
        }
        position = endOf(batch);
        yield batch;
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  #at(position: LogPosition): LogBatch | undefined {
    if (this.#next === undefined || position === this.#next) return undefined;
    const { list } = this.#kept;
    const first = list[0]?.first ?? this.#next;
    if (position < first || position > this.#next)
      throw new PeerError('behind', `the feed has positions from ${first} on, not ${position}`);
    let low = 0;
    let high = list.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (list[middle]!.first <= position) low = middle;
      else high = middle - 1;
    }
    const batch = list[low]!;
    // What was read at a takeover may be cut otherwise than what the follower has.
    return batch.first === position ? batch : { first: position, records: batch.records.slice(position - batch.first) };
  }

  #more(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #wakeAll(): void {
    for (const resolve of this.#wake.splice(0)) resolve();
  }
}

/** The batches that were pushed last. */
class LatestBatches {
  readonly list: LogBatch[] = [];
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  push(batch: LogBatch): void {
    this.list.push(batch);
    this.#bytes += bytesOf(batch);
    // The last one stays, however large.
    let dropped = 0;
    while (this.#bytes > this.#bytesMax && dropped < this.list.length - 1) {
      this.#bytes -= bytesOf(this.list[dropped]!);
      dropped += 1;
    }
    if (dropped > 0) this.list.splice(0, dropped);
  }
}

const endOf = (batch: LogBatch): LogPosition => logPosition(batch.first + batch.records.length);

function bytesOf(batch: LogBatch): number {
  let bytes = 0;
  for (const record of batch.records) bytes += record.length;
  return bytes;
}

/** A log that hands what it has committed to a feed, and what is read after it was sealed. */
export class FeedingLog implements Log {
  readonly #log: Log;
  readonly #feed: CommittedFeed;

  constructor(log: Log, feed: CommittedFeed) {
    this.#log = log;
    this.#feed = feed;
  }

  get knownEnd(): LogPosition | undefined {
    return this.#log.knownEnd;
  }

  async append(batch: LogBatch, seal: Seal): Promise<AppendOutcome> {
    const outcome = await this.#log.append(batch, seal);
    if (outcome.kind === 'committed') this.#feed.push(batch);
    return outcome;
  }

  async *read(from: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    const latest = this.#feed.latest();
    for await (const batch of this.#log.read(from, signal)) {
      if (this.#feed.isOpen) latest.push(batch);
      yield batch;
    }
    // Not before whoever reads has taken the last one: a follower must not know what its leader does not.
    this.#feed.precede(latest);
  }

  async seal(seal: Seal): Promise<LogPosition> {
    const next = await this.#log.seal(seal);
    this.#feed.begin(next);
    return next;
  }
}

import { assert, type LogPosition, logPosition, type Seal } from '@engram/core';
import type { AppendOutcome, Log, LogBatch } from '@engram/storage';
import { PeerError } from './peers.ts';

/** What followers that lag a little are served from; those further behind read the log. */
const KEPT_BYTES_MAX = 32 * 1024 * 1024;

/**
 * The batches that this node has appended lately, for its followers. They are final facts: a follower may take them even
 * from a node that does not know yet that it leads no more.
 */
export class CommittedFeed {
  readonly #keptBytesMax: number;
  #batches: LogBatch[] = [];
  #bytes = 0;
  /** Behind the last batch; undefined: nothing was appended since `begin`. */
  #next: LogPosition | undefined;
  #open = false;
  #wake: (() => void)[] = [];

  constructor(keptBytesMax = KEPT_BYTES_MAX) {
    this.#keptBytesMax = keptBytesMax;
  }

  /** A leadership begins, whose first append takes this position. */
  begin(next: LogPosition): void {
    this.#batches = [];
    this.#bytes = 0;
    this.#next = next;
    this.#open = true;
    this.#wakeAll();
  }

  /** The leadership has ended: so do those who follow. */
  end(): void {
    this.#open = false;
    this.#wakeAll();
  }

  push(batch: LogBatch): void {
    assert(batch.first === this.#next, 'a batch that does not follow the one before');
    this.#batches.push(batch);
    this.#next = logPosition(batch.first + batch.records.length);
    this.#bytes += bytesOf(batch);
    // The last one stays, however large.
    let dropped = 0;
    while (this.#bytes > this.#keptBytesMax && dropped < this.#batches.length - 1) {
      this.#bytes -= bytesOf(this.#batches[dropped]!);
      dropped += 1;
    }
    if (dropped > 0) this.#batches.splice(0, dropped);
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
        position = logPosition(batch.first + batch.records.length);
        yield batch;
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  #at(position: LogPosition): LogBatch | undefined {
    if (this.#next === undefined || position === this.#next) return undefined;
    const first = this.#batches[0]?.first ?? this.#next;
    if (position < first || position > this.#next)
      throw new PeerError('behind', `the feed has positions from ${first} on, not ${position}`);
    let low = 0;
    let high = this.#batches.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#batches[middle]!.first <= position) low = middle;
      else high = middle - 1;
    }
    const batch = this.#batches[low]!;
    assert(batch.first === position, 'a follower is inside a batch');
    return batch;
  }

  #more(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #wakeAll(): void {
    for (const resolve of this.#wake.splice(0)) resolve();
  }
}

function bytesOf(batch: LogBatch): number {
  let bytes = 0;
  for (const record of batch.records) bytes += record.length;
  return bytes;
}

/** A log that hands what it has committed to a feed. */
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

  read(from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch> {
    return this.#log.read(from, signal);
  }

  async seal(seal: Seal): Promise<LogPosition> {
    const next = await this.#log.seal(seal);
    this.#feed.begin(next);
    return next;
  }
}

import { assert, type LogPosition, type Seal, Waiters } from '@engram/core';
import { type AppendOutcome, type Log, type LogBatch, endOf } from '@engram/storage';
import { KeptBatches, type KeptBatchesOptions } from './kept-batches.ts';
import { PeerError } from './peers.ts';

/** The kept batches serve followers that lag a little. Followers further behind read the log. */
const KEPT: KeptBatchesOptions = { bytesMax: 32 << 20, newestBytesMax: 256 << 10, slabBytes: 1 << 20 };

/** The bounds of a feed that takes about so many bytes. */
export function feedOptions(bytesMax: number): KeptBatchesOptions {
  const { slabBytes } = KEPT;
  return { ...KEPT, bytesMax: Math.max(1, Math.floor(bytesMax / slabBytes)) * slabBytes };
}

/**
 * The batches that this node has appended lately, for its followers, and the batches that it read when it took over. The
 * leader before had no answer for the latter, so followers lack them too. All these batches are final: a follower may take
 * them even from a node that does not know yet that it no longer leads.
 */
export class CommittedFeed {
  readonly #options: KeptBatchesOptions;
  #kept: KeptBatches;
  /** The position behind the last batch. Undefined before the first `begin`. */
  #next: LogPosition | undefined;
  #open = false;
  readonly #followers = new Waiters();

  constructor(options = KEPT) {
    this.#options = options;
    this.#kept = this.latest();
  }

  /** An empty buffer with the bounds of this feed. */
  latest(): KeptBatches {
    return new KeptBatches(this.#options);
  }

  /** A leadership begins. Its first append takes the position `next`. */
  begin(next: LogPosition): void {
    this.#kept = this.latest();
    this.#next = next;
    this.#open = true;
    this.#followers.wakeAll();
  }

  /** The log's batches before `begin`'s position. Ignored if they do not end there, or if a batch was pushed since. */
  precede(batches: KeptBatches): void {
    if (batches.end === undefined || this.#kept.end !== undefined || batches.end !== this.#next) return;
    this.#kept = batches;
    this.#followers.wakeAll();
  }

  /** The leadership has ended: ends the streams of all followers. */
  end(): void {
    this.#open = false;
    this.#followers.wakeAll();
  }

  /** The memory that the kept batches take. */
  get bytes(): number {
    return this.#kept.bytes;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  push(batch: LogBatch): void {
    assert(batch.first === this.#next, 'a batch that does not follow the one before');
    this.#kept.push(batch);
    this.#next = endOf(batch);
    this.#followers.wakeAll();
  }

  /** See `Peers.follow`. A follower that reads too slowly gets PeerError `behind`. */
  async *follow(from: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    const wake = (): void => this.#followers.wakeAll();
    // One listener for the whole stream: a listener for each wait would stay on the signal and make the next one slower.
    signal.addEventListener('abort', wake);
    try {
      for (let position = from; this.#open && !signal.aborted; ) {
        const batch = this.#at(position);
        if (batch === undefined) {
          await this.#followers.next();
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
    // The batches read at a takeover may begin at other positions than those that the follower has.
    const batch = this.#kept.at(position);
    if (batch !== undefined) return batch;
    throw new PeerError('behind', `the feed has positions from ${this.#kept.first ?? this.#next} on, not ${position}`);
  }
}

/** A log that hands a feed the batches that it commits, and the batches that are read after it was sealed. */
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

  chainAt(position: LogPosition): Uint8Array | undefined {
    return this.#log.chainAt?.(position);
  }

  async append(batch: LogBatch, seal: Seal): Promise<AppendOutcome> {
    const outcome = await this.#log.append(batch, seal);
    if (outcome.kind === 'committed') {
      const { first, records } = batch;
      this.#feed.push({ first, records, chain: this.#log.chainAt?.(endOf(batch)) });
    }
    return outcome;
  }

  async *read(from: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    const latest = this.#feed.latest();
    for await (const batch of this.#log.read(from, signal)) {
      if (this.#feed.isOpen) latest.push(batch);
      yield batch;
    }
    // Only after the reader has taken the last batch: a follower must not know a batch that its leader does not.
    this.#feed.precede(latest);
  }

  async seal(seal: Seal): Promise<LogPosition> {
    const next = await this.#log.seal(seal);
    this.#feed.begin(next);
    return next;
  }

  heldBy(seal: Seal, signal: AbortSignal): Promise<boolean> {
    return this.#log.heldBy(seal, signal);
  }
}

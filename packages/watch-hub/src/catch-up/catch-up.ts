import {
  assert,
  AssertionError,
  type Clock,
  EngramError,
  type EventGroup,
  LinkedQueue,
  type Logger,
  nextRevision,
  revision,
  type Revision,
} from '@engram/core';
import { type Job, type Loop, type PureJob, settled, type Task } from '@engram/loop';
import { Backlog, type Backlogs } from '../live/backlog.ts';
import type { WatchLimits } from '../limits.ts';
import { checkPage, countEvents, filtering } from './page-offers.ts';
import { ReadDeadlines } from './read-deadlines.ts';
import type { LiveSet } from '../live/live-set.ts';
import type { History, HistoryPage } from '../ports.ts';
import type { Published } from '../published.ts';
import { RecentPages } from './recent-pages.ts';
import { type Walks, walking } from '../walks.ts';
import type { Reading, WatcherState, WatcherStream } from '../live/watcher-state.ts';

export interface CatchUpOptions {
  readonly history: History;
  readonly live: LiveSet;
  readonly backlogs: Backlogs;
  readonly clock: Clock;
  readonly published: Published;
  readonly logger: Logger | undefined;
  /** Revisions in a page, and in one offer to a sink. */
  readonly groupsMax: number;
  /** Bytes of events in one offer to a sink. A larger group is offered alone. */
  readonly offerBytesMax: number;
  /** Concurrent reads of history. */
  readonly readsMax: number;
  /** Time limit of one read. */
  readonly readMsMax: number;
  /** See `RecentPages`. */
  readonly recentBytesMax: number;
  readonly limits: WatchLimits;
  readonly loop: Loop;
  readonly walks: Walks;
}

/** Reads of all streams are begun, and watchers of all streams cancelled, in the name of the hub. */
const HUB: Task = { work: 'catch-up', caller: 'watches', stage: 'watch' };

type Offer = readonly EventGroup[];

/**
 * Serves watchers that are behind from history, until they have every published match. Streams take turns, one page
 * each, so a stream with thousands of watchers delays another stream by one read. No read begins for a stream whose
 * sink has no room. Each read is a job of the loop, in the name of the stream's client.
 *
 * How a watcher becomes live: each of its reads goes up to the hub's revision at the start of the read. In the same
 * step the watcher enters the live set, and later matches gather in its backlog. When the read returns the last page,
 * the backlog has the rest, and the watcher becomes live in the same synchronous step, however fast writes come.
 * Invariant: page, backlog and live events of a watcher adjoin without gap or overlap; `next` is the revision after the
 * last one that was sent.
 */
export class CatchUp {
  readonly #options: CatchUpOptions;
  readonly #behind = new Set<WatcherState>();
  /** Streams that wait for a read. */
  readonly #queue = new LinkedQueue<WatcherStream>();
  /** Streams whose next watcher needs the batch that is being published. History does not have it yet. */
  readonly #held = new Set<WatcherStream>();
  readonly #deadlines: ReadDeadlines;
  readonly #recent: RecentPages;
  /** A job begins reads. */
  #pumping = false;
  #reads = 0;
  /** Counts the compactions. Only the walk over all watchers that the last one began goes on. */
  #compactions = 0;
  #compactRevision: Revision;

  constructor(options: CatchUpOptions) {
    this.#options = options;
    this.#compactRevision = options.history.compactRevision;
    this.#recent = new RecentPages(options.recentBytesMax);
    this.#deadlines = new ReadDeadlines(options.clock, options.readMsMax, (watcher, reading) =>
      this.#late(watcher, reading),
    );
  }

  /** The number of watchers that are behind. etcd calls them slow watchers. */
  get size(): number {
    return this.#behind.size;
  }

  /** Adds a watcher that is in no queue and not live. Reads begin with the next `pump`. */
  add(watcher: WatcherState, next: Revision): void {
    watcher.next = next;
    watcher.enter('waiting');
    this.#behind.add(watcher);
    watcher.stream.waiting.push(watcher);
    this.#enqueue(watcher.stream);
  }

  /** Resumes a stream whose sink has room again. */
  resume(stream: WatcherStream): void {
    this.#enqueue(stream);
    this.pump();
  }

  /** Removes a watcher in any phase. The caller sets its next phase. */
  remove(watcher: WatcherState): void {
    if (!this.#behind.has(watcher)) return;
    this.#isBehindNoMore(watcher);
    if (watcher.queued) watcher.stream.waiting.remove(watcher);
    if (watcher.reading !== undefined) this.#endReading(watcher, watcher.reading).abort.abort();
    this.#options.live.remove(watcher);
    const { stream } = watcher;
    if (stream.queued && stream.waiting.first === undefined) this.#queue.remove(stream);
  }

  compacted(compactRevision: Revision): void {
    if (compactRevision > this.#compactRevision) this.#compactRevision = compactRevision;
    // A walk under way may have passed watchers that need cancelling now, so a new one replaces it.
    this.#compactions += 1;
    const compaction = this.#compactions;
    const visit = (watcher: WatcherState): boolean => {
      if (compaction !== this.#compactions) return false;
      this.endIfCompacted(watcher);
      return true;
    };
    const { walks, loop } = this.#options;
    walks.begin(HUB, walking(this.#behind, visit, loop));
  }

  /** Cancels the watcher if history that it needs is compacted. Returns true if so. */
  endIfCompacted(watcher: WatcherState): boolean {
    const floor = this.#floor();
    if (watcher.next >= floor) return false;
    this.#options.logger?.debug(
      { watchId: watcher.watchId, next: watcher.next, compactRevision: floor },
      'watcher needs compacted history',
    );
    watcher.stream.endCompacted(watcher, floor);
    return true;
  }

  /** Begins reads up to `readsMax`. */
  pump(): void {
    if (this.#pumping || this.#reads >= this.#options.readsMax || this.#queue.first === undefined) return;
    this.#pumping = true;
    void this.#options.loop.run(HUB, this.#beginning());
  }

  *#beginning(): PureJob<void> {
    const { loop, readsMax } = this.#options;
    while (this.#reads < readsMax && this.#queue.first !== undefined) {
      this.#beginNext(this.#queue.first);
      if (loop.shouldYield()) yield;
    }
    this.#pumping = false;
  }

  /** Begins the read that the stream's first watcher waits for. */
  #beginNext(stream: WatcherStream): void {
    const { published } = this.#options;
    this.#queue.remove(stream);
    if (stream.full) return; // its sink refused an offer meanwhile; `resume` queues it again
    const watcher = stream.waiting.first;
    assert(watcher !== undefined, 'a stream waits for a read, and none of its watchers does');
    if (watcher.next > published.revision) {
      assert(published.inBetween, 'a watcher waits for what nobody has published');
      this.#held.add(stream);
      return;
    }
    stream.waiting.remove(watcher);
    this.#enqueue(stream);
    if (!this.endIfCompacted(watcher)) this.#begin(watcher);
  }

  /** Queues the streams that waited for the batch. Call it once the batch can be read from history. */
  resumeHeld(): void {
    for (const stream of this.#held) this.#enqueue(stream);
    this.#held.clear();
    this.pump();
  }

  #isBehindNoMore(watcher: WatcherState): void {
    this.#behind.delete(watcher);
    if (this.#behind.size === 0) this.#recent.clear();
  }

  #floor(): Revision {
    return revision(Math.max(this.#options.history.compactRevision, this.#compactRevision));
  }

  #enqueue(stream: WatcherStream): void {
    if (!stream.queued && !stream.full && stream.waiting.first !== undefined) this.#queue.push(stream);
  }

  #begin(watcher: WatcherState): void {
    const { live, loop, published } = this.#options;
    const to = published.revision;
    const reading: Reading = { to, abort: new AbortController(), backlog: new Backlog() };
    watcher.enter('reading');
    watcher.reading = reading;
    // The publication under way may have passed this range already, so another read must bring its batch.
    if (published.inBetween) reading.backlog.end = nextRevision(to);
    else live.add(watcher);
    this.#reads += 1;
    void loop.run(watcher.stream.task, this.#read(watcher, reading));
  }

  *#read(watcher: WatcherState, reading: Reading): Job<void> {
    const { history, groupsMax } = this.#options;
    const { range, prevKv } = watcher.request;
    const { to, abort } = reading;
    const from = watcher.next;
    const name = { range, prevKv, from, compactRevision: history.compactRevision };
    let page = this.#recent.find(name, to);
    let failure: unknown;
    try {
      if (page === undefined) {
        const { caller } = watcher.stream.task;
        const read = history.read(range, from, to, groupsMax, prevKv, abort.signal, caller);
        this.#deadlines.begin(watcher, reading);
        // What is read in time may wait for its slice.
        page = yield* settled(read.finally(() => this.#deadlines.end(reading)));
        if (!abort.signal.aborted) this.#recent.keep(name, page);
      } else {
        // As after a read: the sink gets nothing within the call that began this.
        yield Promise.resolve();
      }
    } catch (cause) {
      if (cause instanceof AssertionError) throw cause;
      failure = cause;
    }
    if (page !== undefined && watcher.reading === reading) yield* this.#take(watcher, reading, page);
    else if (watcher.reading === reading) this.#failed(watcher, reading, failure);
    // Otherwise the read was ended: the watcher was removed, or the read took too long.
    this.#reads -= 1;
    this.pump();
  }

  /** Takes the page of a read. The watcher may be removed whenever this job gives way. */
  *#take(watcher: WatcherState, reading: Reading, page: HistoryPage): Job<void> {
    const { limits, loop } = this.#options;
    const events = checkPage(page, watcher.next, reading.to);
    const groups = yield* filtering(page.groups, watcher.filter, loop);
    if (events < limits.largeGroup) {
      if (watcher.reading === reading) this.#arrived(watcher, reading, page, groups);
    } else {
      const offers = this.#cut(groups);
      yield* this.#prepare(watcher, reading, offers);
      if (watcher.reading === reading) this.#arrived(watcher, reading, page, [], offers);
    }
    if (loop.shouldYield(1 + events)) yield;
  }

  /** Has the sink prepare the offers with very many events. */
  *#prepare(watcher: WatcherState, reading: Reading, offers: readonly Offer[]): Job<void> {
    for (const offer of offers) {
      if (watcher.reading !== reading) return;
      if (countEvents(offer) < this.#options.limits.largeGroup) continue;
      const ready = watcher.stream.prepare(watcher, offer);
      if (ready !== undefined) yield ready;
    }
  }

  /** Ends a read. The caller owns the groups of its backlog. */
  #endReading(watcher: WatcherState, reading: Reading): Reading {
    watcher.reading = undefined;
    this.#options.backlogs.release(reading.backlog);
    return reading;
  }

  #failed(watcher: WatcherState, reading: Reading, cause: unknown): void {
    this.#endReading(watcher, reading);
    // Whatever the read failed with: what a compaction has removed meanwhile can never be read.
    if (this.endIfCompacted(watcher)) return;
    this.#options.logger?.warn({ err: cause, next: watcher.next }, 'history cannot be read: the watch stream breaks');
    watcher.stream.fail(cause);
  }

  /**
   * Gives up a read that took too long. It still counts in `#reads` until it settles, which it does soon after the
   * signal.
   */
  #late(watcher: WatcherState, reading: Reading): void {
    reading.abort.abort();
    if (watcher.reading === reading) this.#failed(watcher, reading, new EngramError('Timeout'));
  }

  /**
   * Offers the result of a read: first the `prepared` offers, then `groups`, then the backlog if the page is the last
   * one.
   */
  #arrived(
    watcher: WatcherState,
    reading: Reading,
    page: HistoryPage,
    groups: readonly EventGroup[],
    prepared: readonly Offer[] = [],
  ): void {
    const { live, published } = this.#options;
    const { backlog } = this.#endReading(watcher, reading);
    const whole = page.next > reading.to;
    const next = whole ? (backlog.end ?? nextRevision(published.revision)) : page.next;
    const late = whole ? backlog.groups : [];
    const offers = [...prepared, ...this.#cut(late.length === 0 ? groups : [...groups, ...late])];
    const refused = offers.find((offer) => !watcher.stream.offer(watcher, offer, published.header));
    if (refused === undefined && whole && backlog.end === undefined) {
      watcher.next = next;
      watcher.enter('live');
      this.#isBehindNoMore(watcher);
      return;
    }
    live.remove(watcher);
    this.add(watcher, refused?.[0]?.revision ?? next);
  }

  #cut(groups: readonly EventGroup[]): readonly Offer[] {
    return this.#recent.cut(groups, this.#options.groupsMax, this.#options.offerBytesMax);
  }
}

import {
  assert,
  type Clock,
  type EventGroup,
  isEngramError,
  LinkedQueue,
  type Logger,
  nextRevision,
  revision,
  type Revision,
} from '@engram/core';
import { Backlog, type Backlogs } from './backlog.ts';
import { cutIntoOffers } from './cut-into-offers.ts';
import { filterGroup } from './group-shares.ts';
import type { LiveSet } from './live-set.ts';
import type { History, HistoryPage } from './ports.ts';
import type { Published } from './published.ts';
import type { StreamState } from './stream-state.ts';
import { inTurns, Walk } from './walk.ts';
import type { Reading, WatcherState } from './watcher-state.ts';

export interface CatchUpOptions {
  readonly history: History;
  readonly live: LiveSet;
  readonly backlogs: Backlogs;
  readonly clock: Clock;
  readonly published: Published;
  readonly logger: Logger | undefined;
  /** Revisions in a page, and in what a sink is offered at once. */
  readonly groupsMax: number;
  /** Bytes of events that a sink is offered at once; a larger group goes alone. */
  readonly offerBytesMax: number;
  /** Reads of history under way at a time. */
  readonly readsMax: number;
  /** See SliceLimits. */
  readonly sliceUs: number;
}

/**
 * Serves those that are behind from history, until they meet what is published. Streams take turns, a page each, so
 * that one with thousands of watchers delays another by one read; a stream whose sink has no room does not read at all.
 *
 * The seam: a read goes up to the store's revision of that moment, and in that moment the watcher enters the live set,
 * where what is published gathers for it. When the read has brought the last of the past, the rest is at hand: the
 * watcher is live in the same synchronous step, however fast writes come. Invariant: past page, backlog and live
 * events of a watcher adjoin without gap or overlap; `next` is where the last of them that was sent ends.
 */
export class CatchUp {
  readonly #options: CatchUpOptions;
  readonly #unsynced = new Set<WatcherState>();
  readonly #turns = new LinkedQueue<StreamState>();
  /** Streams whose next watcher needs what is being published: history does not have it yet. */
  readonly #held = new Set<StreamState>();
  #reads = 0;
  /** Those who are looked at because history was compacted. */
  #ending: Walk<WatcherState> | undefined;
  #compactRevision: Revision;

  constructor(options: CatchUpOptions) {
    this.#options = options;
    this.#compactRevision = options.history.compactRevision;
  }

  /** Watchers that are behind: etcd's slow watchers. */
  get size(): number {
    return this.#unsynced.size;
  }

  /** Takes a watcher that is in no queue and not live. Nothing happens before `pump`. */
  add(watcher: WatcherState, next: Revision): void {
    watcher.enter('waiting');
    watcher.next = next;
    this.#unsynced.add(watcher);
    watcher.stream.waiting.push(watcher);
    this.#takeTurn(watcher.stream);
  }

  /** Its sink has room again. */
  resume(stream: StreamState): void {
    this.#takeTurn(stream);
    this.pump();
  }

  /** Forgets a watcher in whatever phase; the caller decides what becomes of it. */
  remove(watcher: WatcherState): void {
    if (!this.#unsynced.delete(watcher)) return;
    if (watcher.queued) watcher.stream.waiting.remove(watcher);
    if (watcher.reading !== undefined) this.#endReading(watcher, watcher.reading).abort.abort();
    this.#options.live.remove(watcher);
    const { stream } = watcher;
    if (stream.queued && stream.waiting.first === undefined) this.#turns.remove(stream);
  }

  compacted(compactRevision: Revision): void {
    if (compactRevision > this.#compactRevision) this.#compactRevision = compactRevision;
    const running = this.#ending !== undefined;
    this.#ending = new Walk(this.#unsynced, this.#options.sliceUs); // whom the walk before has passed may need more than is left now
    if (!running)
      inTurns(
        (goOn) => this.#options.clock.soon(goOn),
        () => this.#endCompacted(),
      );
  }

  #endCompacted(): boolean {
    const more = this.#ending?.step((watcher) => this.endIfCompacted(watcher)) ?? false;
    if (!more) this.#ending = undefined;
    return more;
  }

  /** True: history below what the watcher needs is gone, and so is the watcher. */
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

  /** Starts as many reads as may be under way. */
  pump(): void {
    const { published } = this.#options;
    while (this.#reads < this.#options.readsMax) {
      const stream = this.#turns.first;
      if (stream === undefined) return;
      this.#turns.remove(stream);
      if (stream.full) continue; // since it took its place; `resume` gives it another
      const watcher = stream.waiting.first;
      assert(watcher !== undefined, 'a stream waits for a turn, and none of its watchers does');
      if (watcher.next > published.revision) {
        assert(published.inBetween, 'a watcher waits for what nobody has published');
        this.#held.add(stream);
        continue;
      }
      stream.waiting.remove(watcher);
      this.#takeTurn(stream);
      if (!this.endIfCompacted(watcher)) void this.#read(watcher);
    }
  }

  /** What was being published is history now. */
  resumeHeld(): void {
    for (const stream of this.#held) this.#takeTurn(stream);
    this.#held.clear();
    this.pump();
  }

  #floor(): Revision {
    return revision(Math.max(this.#options.history.compactRevision, this.#compactRevision));
  }

  #takeTurn(stream: StreamState): void {
    if (!stream.queued && !stream.full && stream.waiting.first !== undefined) this.#turns.push(stream);
  }

  async #read(watcher: WatcherState): Promise<void> {
    const { history, live, published, groupsMax } = this.#options;
    const { range, prevKv } = watcher.request;
    const to = published.revision;
    const reading: Reading = { to, abort: new AbortController(), backlog: new Backlog() };
    watcher.enter('reading');
    watcher.reading = reading;
    // What is being published now may have passed its range already: that comes by another read.
    if (published.inBetween) reading.backlog.end = nextRevision(to);
    else live.add(watcher);
    this.#reads += 1;
    let page: HistoryPage | undefined;
    let failure: unknown;
    try {
      page = await history.read(range, watcher.next, to, groupsMax, prevKv, reading.abort.signal);
    } catch (cause) {
      failure = cause;
    }
    this.#reads -= 1;
    // Otherwise the watcher has gone meanwhile, and nobody waits for the page.
    if (watcher.reading === reading) {
      this.#endReading(watcher, reading);
      if (page !== undefined) this.#arrived(watcher, reading, page);
      else this.#failed(watcher, failure);
    }
    this.pump();
  }

  /** What its backlog held is the caller's. */
  #endReading(watcher: WatcherState, reading: Reading): Reading {
    watcher.reading = undefined;
    this.#options.backlogs.release(reading.backlog);
    return reading;
  }

  #failed(watcher: WatcherState, cause: unknown): void {
    if (isEngramError(cause, 'Compacted') && this.endIfCompacted(watcher)) return;
    this.#options.logger?.warn({ err: cause, next: watcher.next }, 'history cannot be read: the watch stream breaks');
    watcher.stream.fail(cause);
  }

  #arrived(watcher: WatcherState, reading: Reading, page: HistoryPage): void {
    const { live, published } = this.#options;
    assert(page.next > watcher.next, 'a page of history without progress');
    const groups: EventGroup[] = [];
    let last = watcher.next - 1;
    for (const group of page.groups) {
      assert(group.revision > last && group.revision <= reading.to, 'a page of history out of order');
      last = group.revision;
      const filtered = filterGroup(group, watcher.filter);
      if (filtered !== undefined) groups.push(filtered);
    }
    assert(last < page.next, 'a page of history beyond its end');
    const whole = page.next > reading.to;
    let next = page.next;
    if (whole) {
      for (const group of reading.backlog.groups) groups.push(group);
      next = reading.backlog.end ?? nextRevision(published.revision);
    }
    const refused = this.#offer(watcher, groups);
    if (refused === undefined && whole && reading.backlog.end === undefined) {
      watcher.next = next;
      watcher.enter('live');
      this.#unsynced.delete(watcher);
      return;
    }
    live.remove(watcher);
    this.add(watcher, refused ?? next);
  }

  /** The first revision that the sink did not take. */
  #offer(watcher: WatcherState, groups: readonly EventGroup[]): Revision | undefined {
    const { groupsMax, offerBytesMax, published } = this.#options;
    for (const offer of cutIntoOffers(groups, groupsMax, offerBytesMax)) {
      if (!watcher.stream.offer(watcher, offer, published.header)) return offer[0]!.revision;
    }
    return undefined;
  }
}

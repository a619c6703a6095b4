import {
  assert,
  type EventGroup,
  type Int64,
  type LinkedQueue,
  nextRevision,
  NO_REVISION,
  type Queued,
  type Revision,
  type Span,
} from '@engram/core';
import type { Task } from '@engram/loop';
import type { Backlog } from './backlog.ts';
import { DROP_DELETES, DROP_NOTHING, DROP_PUTS, type Filter } from '../events/group-subsets.ts';
import type { Watcher, WatchRequest } from '../ports.ts';
import type { RangeNode } from './range-node.ts';

/**
 * - created: not started yet, so no event may be sent.
 * - waiting: behind, in the queue for a read of history.
 * - reading: a read is under way, and matches published meanwhile gather in the backlog.
 * - live: was sent every match up to the store's revision, or starts in the future.
 * - dead: removed.
 */
export type Phase = 'created' | 'waiting' | 'reading' | 'live' | 'dead';

/** A read under way, of all matches from the watcher's `next` to `to`. */
export interface Reading {
  readonly to: Revision;
  readonly abort: AbortController;
  /**
   * Filtered matches above `to`. They are sent after the last page, so that a watcher becomes live however fast writes
   * come.
   */
  readonly backlog: Backlog;
}

/** The stream of a watcher, as those see it who send the watcher its events. */
export interface WatcherStream extends Queued<WatcherStream> {
  /** Work for the watchers of this stream is done in the name of its client. */
  readonly task: Task;
  /** True after the sink refused an offer, until `drained` is called, and always once the stream is closed. */
  readonly full: boolean;
  /** The stream's watchers that need a read of history, in the order in which they fell behind. */
  readonly waiting: LinkedQueue<WatcherState>;
  readonly progress: PhaseCounts;
  /** Offers groups to the sink. If the result is false, the watcher must get them again from history, after `drained`. */
  offer(watcher: WatcherState, groups: readonly EventGroup[], headerRevision: Revision): boolean;
  /** Lets the sink prepare a large offer. Returns undefined if there is nothing to wait for. */
  prepare(watcher: WatcherState, groups: readonly EventGroup[]): Promise<void> | undefined;
  endCompacted(watcher: WatcherState, compactRevision: Revision): void;
  /** Breaks the stream. */
  fail(cause: unknown): void;
}

/** Is told of each change of a watcher's phase. */
interface PhaseCounts {
  live(watcher: WatcherState): void;
  /** A watcher that was live is not any more. */
  fellBehind(watcher: WatcherState): void;
  /** A watcher that is not live is gone. */
  remove(watcher: WatcherState): void;
}

/** One watcher, as the hub sees it. */
export class WatcherState implements Watcher, Queued<WatcherState> {
  readonly watchId: Int64;
  readonly request: WatchRequest;
  readonly stream: WatcherStream;
  readonly filter: Filter;
  #phase: Phase = 'created';
  /** Records that the watcher is behind. */
  #behind: Span | undefined;
  /**
   * Every match below this revision was sent or is not wanted. Exact while created, waiting or reading. For a live
   * watcher a lower bound, because published events do not advance it.
   */
  next: Revision;
  reading: Reading | undefined;
  /** True if no event was sent since the last round of periodic progress. */
  quiet = true;
  /** The last revision that a publication has handed to this watcher. */
  handed: Revision = NO_REVISION;
  /** The node of the watcher's range in the live set. `slot` is the watcher's index there. */
  node: RangeNode | undefined;
  slot = -1;
  queued = false;
  before: WatcherState | undefined;
  after: WatcherState | undefined;

  constructor(watchId: Int64, request: WatchRequest, stream: WatcherStream, storeRevision: Revision) {
    assert(request.startRevision >= 0, 'a watcher with a negative start');
    this.watchId = watchId;
    this.request = request;
    this.stream = stream;
    this.filter = (request.noPut ? DROP_PUTS : DROP_NOTHING) | (request.noDelete ? DROP_DELETES : DROP_NOTHING);
    this.next = request.startRevision === 0 ? nextRevision(storeRevision) : request.startRevision;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Changes the phase and updates the stream's progress, which counts live watchers. */
  enter(phase: Phase): void {
    const { progress } = this.stream;
    const was = this.#phase;
    assert(was !== 'dead', 'a watcher that is gone goes on');
    this.#phase = phase;
    if (phase === 'live') progress.live(this);
    else if (was === 'live') progress.fellBehind(this);
    if (phase === 'dead') progress.remove(this);
    if (this.request.span !== undefined) this.#trace(this.request.span, phase);
  }

  #trace(span: Span, phase: Phase): void {
    if (phase === 'waiting' || phase === 'reading') this.#behind ??= span.child('catch-up', { from: this.next });
    else {
      this.#behind?.end();
      this.#behind = undefined;
    }
    if (phase === 'dead') span.end();
  }

  /** Whether every match at or below the revision was sent, and the revision has reached the watcher's start. */
  synced(storeRevision: Revision): boolean {
    return this.phase === 'live' && this.request.startRevision <= storeRevision;
  }
}

import { assert, type Int64, nextRevision, NO_REVISION, type Queued, type Revision } from '@engram/core';
import type { Backlog } from './backlog.ts';
import { DROP_DELETES, DROP_NOTHING, DROP_PUTS, type Filter } from './group-shares.ts';
import type { Watcher, WatchRequest } from './ports.ts';
import type { RangeNode } from './range-node.ts';
import type { StreamState } from './stream-state.ts';

/**
 * created: not started yet, nothing may be sent.
 * waiting: behind, in the queue for a read of history.
 * reading: a read is under way; what is published meanwhile gathers in its backlog.
 * live: has got every match up to the store's revision, or starts in the future.
 * dead: gone.
 */
export type Phase = 'created' | 'waiting' | 'reading' | 'live' | 'dead';

/** A read under way, of everything from the watcher's `next` to `to`. */
export interface Reading {
  readonly to: Revision;
  readonly abort: AbortController;
  /** Matches above `to`, filtered: they join the page that the read brings, so that writes cannot outrun a watcher. */
  readonly backlog: Backlog;
}

/** One watcher, as the hub sees it. */
export class WatcherState implements Watcher, Queued<WatcherState> {
  readonly watchId: Int64;
  readonly request: WatchRequest;
  readonly stream: StreamState;
  readonly filter: Filter;
  #phase: Phase = 'created';
  /**
   * Every match below it was sent or is not wanted. Exact while created, waiting or reading; a live watcher's is a
   * lower bound, since what does not match passes it by.
   */
  next: Revision;
  reading: Reading | undefined;
  /** No event was sent since the stream last looked: what periodic progress asks for. */
  quiet = true;
  /** The last revision of which a publication in slices has handed it what it matches. */
  handed: Revision = NO_REVISION;
  /** Where it stands in the live set: the node of its range, and its index there. */
  node: RangeNode | undefined;
  slot = -1;
  queued = false;
  before: WatcherState | undefined;
  after: WatcherState | undefined;

  constructor(watchId: Int64, request: WatchRequest, stream: StreamState, storeRevision: Revision) {
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

  /** The stream counts those that are live: it hears of each step. */
  enter(phase: Phase): void {
    const { progress } = this.stream;
    const was = this.#phase;
    assert(was !== 'dead', 'a watcher that is gone goes on');
    this.#phase = phase;
    if (phase === 'live') progress.live(this);
    else if (was === 'live') progress.fellBehind(this);
    if (phase === 'dead') progress.remove(this);
  }

  /** Nothing it matches at or below the revision is unsent, and the revision has reached its start. */
  synced(storeRevision: Revision): boolean {
    return this.phase === 'live' && this.request.startRevision <= storeRevision;
  }
}

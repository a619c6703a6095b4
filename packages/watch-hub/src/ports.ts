import type { EventGroup, Int64, KeyRange, Revision } from '@engram/core';

/** The client's request for one watcher. */
export interface WatchRequest {
  /** As the client sent it, but with "\0" for an empty key. */
  readonly range: KeyRange;
  /** 0 means from now on. It may be in the future. */
  readonly startRevision: Revision;
  readonly prevKv: boolean;
  readonly progressNotify: boolean;
  readonly noPut: boolean;
  readonly noDelete: boolean;
  readonly fragment: boolean;
  /** 0 means that the stream assigns an id. */
  readonly watchId: Int64;
}

/** One watcher, as the owner of its stream sees it. */
export interface Watcher {
  readonly watchId: Int64;
  readonly request: WatchRequest;
}

/** The outcome of a create. `revision` is the hub's, for the response header. */
export type CreateOutcome =
  | { readonly kind: 'created'; readonly watcher: Watcher; readonly revision: Revision }
  | { readonly kind: 'refused'; readonly reason: 'negative-revision' | 'empty-range' | 'duplicate-id' };

/**
 * The watchers of one client's stream. After `close`, or after the sink's `failed`, all methods but `create` do
 * nothing.
 */
export interface WatchStream {
  /**
   * Registers a watcher. The revision is read in the same step, so with start revision 0 the watcher gets exactly the
   * events above the returned `revision`. Assigned ids count from 0, skip ids in use, and are never assigned twice. If
   * several reasons to refuse apply, the first one in the order of the union is returned. Throws EngramError Stopped if
   * the stream is closed.
   */
  create(request: WatchRequest): CreateOutcome;
  /**
   * Lets the sink hear of the watcher. Call it once the created response is queued, in the same turn of the event loop;
   * called later, it costs a read of history. Does nothing if the watcher is gone.
   */
  start(watcher: Watcher): void;
  /** Removes a watcher. The sink is not called for it again, not even for this call. Returns false if there is none. */
  cancel(watchId: Int64): boolean;
  /**
   * Answers a client's progress request by calling the sink's `progress`:
   *
   * - usually within this call;
   * - at the end of the turn, once for all, if another request of the same turn was answered already;
   * - after the batch, if one is being published in slices;
   * - not at all if a watcher is behind or starts in the future. The client must ask again.
   */
  requestProgress(): void;
  /** Tells that the sink has room again after a refusal. Does nothing if there was no refusal. */
  drained(): void;
  close(): void;
}

/**
 * Where a stream's answers go. The hub calls it synchronously and in order. The calls must not throw and must not call
 * back into the hub, which asserts it. Only `failed` may close the stream, which is closed by then.
 *
 * All watchers that matched the same events of a live revision get the same group object, and all that matched the same
 * events of a batch get the same array. So a sink can encode each once, for example in a WeakMap. It needs one encoding
 * with the superseded versions and one without.
 */
export interface WatchSink {
  /**
   * Offers consecutive matches of one watcher. A group must leave in one response, alone or with its neighbours, and is
   * never divided. A live watcher is offered all matches of a batch at once; one that catches up, at most
   * `catchUpGroupsMax` groups. Both are at most 1 MiB, or one larger group. `headerRevision` is the store's, and never
   * decreases within a stream.
   *
   * Return false if there is no room and nothing was taken. The hub then offers the stream nothing until
   * `WatchStream.drained` is called, and offers the same groups again later, from history.
   */
  events(watcher: Watcher, groups: readonly EventGroup[], headerRevision: Revision): boolean;
  /**
   * Called before `events` if an offer has 1000 events or more, so that a sink can encode them in slices, once for all
   * watchers that are offered the same array. `events` follows once the promise has resolved, or at once if there is
   * none; it may also not follow at all. The promise may reject for a broken invariant only.
   */
  prepare?(watcher: Watcher, groups: readonly EventGroup[]): Promise<void> | undefined;
  /** The watcher needed history below `compactRevision` and is gone. Called even if there is no room. */
  compacted(watcher: Watcher, compactRevision: Revision): void;
  /**
   * Progress of one watcher (periodic), or of the whole stream (undefined: the client asked). `events` has taken every
   * match at or below `revision` before.
   */
  progress(watcher: Watcher | undefined, revision: Revision): void;
  /** History could not be read. The stream must break, so that the client resumes elsewhere. */
  failed(cause: unknown): void;
}

/** One page of history: the matching events from a revision on. */
export interface HistoryPage {
  readonly groups: readonly EventGroup[];
  /**
   * Every match below it is in `groups`, and the next page starts here. It is above the requested `to` if that was
   * reached.
   */
  readonly next: Revision;
}

/** Committed history, for watchers that start in the past or fell behind. */
export interface History {
  /**
   * History below it is gone, and a watcher that needs less is cancelled. It must have risen before a read rejects for
   * it.
   */
  readonly compactRevision: Revision;
  /**
   * Reads the matches of `range` with from <= revision <= to, at most `groupsMax` revisions. `to` is at most the hub's
   * revision. `prevKv` is filled in if asked for and not compacted. A page may end earlier, to bound its bytes or its
   * time, but must make progress.
   *
   * Rejects with EngramError Compacted if compaction overtakes the read, and with any other error if the stream must
   * break. A read that takes longer than the hub's bound (10 s) is given up, and its stream breaks. After the signal
   * nobody wants the page, and the read should settle soon, because it takes the place of another until then.
   */
  read(
    range: KeyRange,
    from: Revision,
    to: Revision,
    groupsMax: number,
    prevKv: boolean,
    signal: AbortSignal,
  ): Promise<HistoryPage>;
}

import type { EventGroup, Int64, KeyRange, Revision, Span } from '@engram/core';

/** The client's request for one watcher. */
export interface WatchRequest {
  /** As the client sent it, but with "\0" for an empty key. */
  readonly range: KeyRange;
  /** 0 means the revision after the hub's. A greater revision than the hub's is allowed. */
  readonly startRevision: Revision;
  readonly prevKv: boolean;
  readonly progressNotify: boolean;
  readonly noPut: boolean;
  readonly noDelete: boolean;
  readonly fragment: boolean;
  /** 0 means that the stream assigns an id. */
  readonly watchId: Int64;
  /** Records the watcher: its times behind are spans in it. The hub ends it with the watcher. Usually undefined. */
  readonly span?: Span | undefined;
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
   * Registers a watcher. The hub's revision is read in the same call, so with start revision 0 the watcher gets exactly
   * the events above the returned `revision`. Assigned ids count from 0, skip ids in use, and are never assigned twice.
   * If several reasons to refuse apply, the first one in the order of the union is returned. Throws EngramError Stopped
   * if the stream is closed.
   */
  create(request: WatchRequest): CreateOutcome;
  /**
   * Starts to send the watcher's events to the sink. Must be called after the created response is queued. A call in the
   * same turn of the event loop as `create` avoids a read of history. Does nothing if the watcher was cancelled.
   */
  start(watcher: Watcher): void;
  /**
   * Removes a watcher. The sink is not called for it again, not even about the removal. Returns false for an unknown
   * id.
   */
  cancel(watchId: Int64): boolean;
  /**
   * Answers a client's progress request by calling the sink's `progress`:
   *
   * - usually within this call;
   * - at the end of the turn, once for all later requests, if another request of the same turn was answered already;
   * - after the batch, if one is being published;
   * - never if a watcher is behind or starts in the future, or if the sink has no room. The client must ask again.
   */
  requestProgress(): void;
  /** Tells the hub that the sink has room again after a refusal. Does nothing if there was no refusal. */
  drained(): void;
  close(): void;
}

/**
 * Receives a stream's answers. The hub calls it synchronously and in order. The calls must not throw. They must not
 * call back into the hub, which asserts this. Only `failed` may close the stream, which is closed by then.
 *
 * All watchers that matched the same events of a live revision get the same group object. All watchers that matched the
 * same events of a batch get the same array. Watchers of one range that were behind at the same revision often do too. So a sink can encode each once and keep the result, for example in a
 * WeakMap. It needs one encoding with the superseded versions and one without.
 */
export interface WatchSink {
  /**
   * Offers consecutive matches of one watcher. A group must leave in one response, alone or with its neighbours, and is
   * never divided. A live watcher is offered all matches of a batch together. A watcher that catches up is offered at
   * most `catchUpGroupsMax` groups. An offer has at most 1 MiB, or one larger group. `headerRevision` is the store's
   * revision and never decreases within a stream.
   *
   * Returns false if the sink has no room and has taken nothing. The hub then offers the stream nothing until
   * `WatchStream.drained` is called, and offers the same groups again later, from history.
   */
  events(watcher: Watcher, groups: readonly EventGroup[], headerRevision: Revision): boolean;
  /**
   * Called before `events` if an offer has 1000 events or more, so that a sink can encode them bit by bit, once for all
   * watchers that are offered the same array. `events` follows after the promise has resolved, or synchronously if
   * there is no promise. Other watchers may be offered the array meanwhile: once it is ready, it stays so. The hub may also
   * drop the offer. The promise may reject for a broken invariant only.
   */
  prepare?(watcher: Watcher, groups: readonly EventGroup[]): Promise<void> | undefined;
  /** The watcher needed history below `compactRevision` and is gone. Called even if there is no room. */
  compacted(watcher: Watcher, compactRevision: Revision): void;
  /**
   * Progress of one watcher (periodic), or of the whole stream (undefined: the client asked). The sink has taken every
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
   * Every match below this revision is in `groups`, and the next page starts here. Above the requested `to` if the page
   * reached `to`.
   */
  readonly next: Revision;
}

/** Committed history, for watchers that start in the past or fell behind. */
export interface History {
  /**
   * History below this revision is gone. A watcher that needs an earlier revision is cancelled. Must rise before a read
   * rejects with Compacted.
   */
  readonly compactRevision: Revision;
  /**
   * Reads the matches of `range` with from <= revision <= to, at most `groupsMax` revisions. `to` is at most the hub's
   * revision. With `prevKv`, events have their superseded versions unless those are compacted. A page may end earlier,
   * to bound its bytes or its time, but must make progress.
   *
   * Rejects with EngramError Compacted if compaction overtakes the read, and with any other error if the stream must
   * break. The hub gives up a read that takes longer than its bound (10 s) and breaks the stream. After the signal the
   * hub drops the page. The read should settle soon, because it counts as a concurrent read until then. `client` is the one
   * for whom it is (`WatchHub.openStream`).
   */
  read(
    range: KeyRange,
    from: Revision,
    to: Revision,
    groupsMax: number,
    prevKv: boolean,
    signal: AbortSignal,
    client: object | string,
  ): Promise<HistoryPage>;
}

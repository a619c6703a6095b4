import type { EventGroup, Int64, KeyRange, Revision } from '@engram/core';

/** What a client asks of one watcher. */
export interface WatchRequest {
  /** As sent, but an empty key already read as "\0". */
  readonly range: KeyRange;
  /** 0: from now; may lie in the future. */
  readonly startRevision: Revision;
  readonly prevKv: boolean;
  readonly progressNotify: boolean;
  readonly noPut: boolean;
  readonly noDelete: boolean;
  readonly fragment: boolean;
  /** 0: the stream assigns. */
  readonly watchId: Int64;
}

/** One watcher of a stream, as its owner sees it. */
export interface Watcher {
  readonly watchId: Int64;
  readonly request: WatchRequest;
}

/** The answer to a create. `revision` is the store's, for the header. */
export type CreateOutcome =
  | { readonly kind: 'created'; readonly watcher: Watcher; readonly revision: Revision }
  | { readonly kind: 'refused'; readonly reason: 'negative-revision' | 'empty-range' | 'duplicate-id' };

/** The watchers of one client's stream. After `close`, or after its sink's `failed`, everything but `create` is nothing. */
export interface WatchStream {
  /**
   * Reads the revision and registers the watcher in one step: with start revision 0 it gets exactly what is above
   * `revision`. Server-assigned ids count from 0, skip those in use, and are dealt once. Refusals are checked in the
   * order of their union. Throws EngramError Stopped when the stream is closed.
   */
  create(request: WatchRequest): CreateOutcome;
  /**
   * From now on the sink may hear of the watcher: call it once the created response is queued, in the same turn, so
   * that nothing has to come from history. Nothing for a watcher that is gone.
   */
  start(watcher: Watcher): void;
  /** False: no such watcher. The sink hears nothing more of it, not of this call either. */
  cancel(watchId: Int64): boolean;
  /**
   * The sink's `progress` is called within the call; where another request of the same turn was answered already, at
   * the turn's end, once for all of them; while a batch is being published in slices, behind that; or not at all: then a
   * watcher is behind, or starts in the future.
   */
  requestProgress(): void;
  /** There is room after a refusal; without a refusal, nothing. */
  drained(): void;
  close(): void;
}

/**
 * Where a stream's answers go. Called synchronously and in order. None of the calls may call back into the hub, which
 * asserts it; only `failed` may close the stream, which is closed by then. Nor may one throw.
 * A group is shared by all the watchers that matched the same events of a live revision, and the array by all that
 * matched the same of a batch: encode it once (a WeakMap, by prevKv: not who wants the superseded version gets it).
 */
export interface WatchSink {
  /**
   * `groups` are consecutive matches of this watcher; each must leave in one response or with its neighbours, never
   * divided. A live watcher gets what a batch has for it at once, one that catches up at most `catchUpGroupsMax`
   * groups; both at most 1 MiB (or one larger group). `headerRevision` is the store's: it never falls within a stream.
   * False: there is no room, nothing was taken, and `WatchStream.drained` will be called; until then the stream is
   * offered nothing more. The hub offers the same groups again after it, from history.
   */
  events(watcher: Watcher, groups: readonly EventGroup[], headerRevision: Revision): boolean;
  /**
   * Called before `events` is offered groups with very many events, 1000 or more: whoever encodes them can do so in
   * slices, for all watchers that are offered the same array. The offer comes once the promise has resolved, or at once
   * where there is none. It may reject for a broken invariant only. The offer may not come at all.
   */
  prepare?(watcher: Watcher, groups: readonly EventGroup[]): Promise<void> | undefined;
  /** The watcher needed history below `compactRevision`; it is gone. Comes also when there is no room. */
  compacted(watcher: Watcher, compactRevision: Revision): void;
  /**
   * For one watcher (periodic), or for all of the stream (undefined: asked for by the client). Every match at or below
   * `revision` was taken by `events` before.
   */
  progress(watcher: Watcher | undefined, revision: Revision): void;
  /** History could not be read: the stream must break, so that its client resumes elsewhere. */
  failed(cause: unknown): void;
}

/** One page of the past: the matching events from a revision on. */
export interface HistoryPage {
  readonly groups: readonly EventGroup[];
  /** Every match below it is in `groups`; the next page starts here. Above the requested `to` when that was reached. */
  readonly next: Revision;
}

/** Committed history, for watchers that start in the past or fell behind. */
export interface History {
  /** Below it history is gone; a watcher that needs less is cancelled. It has risen before a read rejects for it. */
  readonly compactRevision: Revision;
  /**
   * Matches of `range` with from <= revision <= to, at most `groupsMax` revisions, `prevKv` filled in where asked and
   * not compacted. A page may end earlier, to bound its bytes or its time, but never where it began. `to` is at most the
   * hub's revision. Rejects with EngramError Compacted when compaction overtakes it,
   * with anything else where the stream must break. A read that takes longer than the hub's bound (10 s) is given up, and
   * its stream breaks. After the signal nobody wants the page, and a read that settles soon makes room for another.
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

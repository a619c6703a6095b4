import type { EventGroup, KeyRange, Revision } from '@engram/core';

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
  readonly watchId: number;
}

/** One watcher of a stream, as its owner sees it. */
export interface Watcher {
  readonly watchId: number;
  readonly request: WatchRequest;
}

/**
 * Where a stream's answers go. Called synchronously and in order; none of the calls may call back into the hub.
 * A group is shared by all the watchers that matched the same events of a revision: encode it once (a WeakMap).
 */
export interface WatchSink {
  /**
   * `groups` are consecutive matches of this watcher; each must leave in one response or with its neighbours, never
   * divided. `headerRevision` is what the response says of the store. False: there is no room; the hub takes the
   * watcher out of the live ones and offers the same groups again, from history, after `WatchStream.drained`.
   */
  events(watcher: Watcher, groups: readonly EventGroup[], headerRevision: Revision): boolean;
  /** The watcher needed history below `compactRevision`; it is gone. */
  compacted(watcher: Watcher, compactRevision: Revision): void;
  /** For one watcher (periodic), or for all of the stream (undefined: asked for by the client). */
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
  /** Below it history is gone; a watcher that needs less is cancelled. */
  readonly compactRevision: Revision;
  /**
   * Matches of `range` with from <= revision <= to, at most `groupsMax` revisions, `prevKv` filled in where asked.
   * Rejects with EngramError Compacted when compaction overtakes it.
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

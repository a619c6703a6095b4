import { assert, type Clock, type CommittedBatch, type Logger, type Random, type Revision } from '@engram/core';
import { Backlogs } from './backlog.ts';
import { CatchUp } from './catch-up.ts';
import { LiveSet } from './live-set.ts';
import type { History, WatchSink, WatchStream } from './ports.ts';
import { type StreamParts, StreamState } from './stream-state.ts';

export interface WatchHubOptions {
  readonly history: History;
  /** The store's at the start: the first group published is the one after it. */
  readonly revision: Revision;
  readonly clock: Clock;
  readonly random: Random;
  /** Between periodic progress of a quiet watcher, before a jitter of up to a tenth more. */
  readonly progressIntervalMs: number;
  readonly logger?: Logger;
  /** Revisions that a catching-up watcher is sent at once (etcd: watchBatchMaxRevs). */
  readonly catchUpGroupsMax?: number;
  /** Reads of history under way at a time, over all streams. */
  readonly historyReadsMax?: number;
  /** Revisions kept for a watcher while a read is under way; what comes above them takes another read. */
  readonly backlogGroupsMax?: number;
  /** What these may take in memory. */
  readonly backlogBytesMax?: number;
  /** What those of all watchers together may take. */
  readonly backlogTotalBytesMax?: number;
  /** Watchers that are told of something, or dropped, before others get a turn. */
  readonly visitsMax?: number;
}

/** Gauges. */
export interface WatchHubStats {
  readonly streams: number;
  readonly watchers: number;
  /**
   * Those that are behind: waiting for history or for room in their stream. Those of a stream that was closed with
   * very many count for some turns still.
   */
  readonly slowWatchers: number;
  /** Events held for watchers whose read of history is under way. */
  readonly pendingEvents: number;
  /** What these take in memory; what two of them share counts twice. */
  readonly pendingBytes: number;
}

const CATCH_UP_GROUPS_MAX = 1000;
const OFFER_BYTES_MAX = 1 << 20;
const HISTORY_READS_MAX = 8;
/** At a page in 50 ms, 200k matching writes a second do not outrun a reader; eight full backlogs are 80k references. */
const BACKLOG_GROUPS_MAX = 10_000;
const BACKLOG_BYTES_MAX = 8 << 20;
const BACKLOG_TOTAL_BYTES_MAX = 32 << 20;
/** Some microseconds each. */
const VISITS_MAX = 500;

/**
 * Committed batches in, events of watchers out: ordered, each exactly once, revisions whole. Everything that is
 * published reaches the sinks of its live watchers within the call; the past comes from history, read in pages. The
 * hub holds no events of its own beyond what a read under way needs, so a slow client costs reads, not memory.
 */
export class WatchHub {
  readonly #live: LiveSet;
  readonly #backlogs: Backlogs;
  readonly #catchUp: CatchUp;
  readonly #parts: StreamParts;
  readonly #streams = new Set<StreamState>();
  #revision: Revision;
  #closed = false;

  constructor(options: WatchHubOptions) {
    assert(options.progressIntervalMs >= 1, 'progress without an interval');
    this.#revision = options.revision;
    const { history, clock, random, progressIntervalMs } = options;
    const visitsMax = options.visitsMax ?? VISITS_MAX;
    const storeRevision = (): Revision => this.#revision;
    const backlogs = new Backlogs({
      groupsMax: options.backlogGroupsMax ?? BACKLOG_GROUPS_MAX,
      bytesMax: options.backlogBytesMax ?? BACKLOG_BYTES_MAX,
      totalBytesMax: options.backlogTotalBytesMax ?? BACKLOG_TOTAL_BYTES_MAX,
    });
    const live = new LiveSet({
      random,
      backlogs,
      offerBytesMax: OFFER_BYTES_MAX,
      behind: (watcher, next) => this.#catchUp.add(watcher, next),
    });
    const catchUp = new CatchUp({
      history,
      live,
      backlogs,
      clock,
      storeRevision,
      logger: options.logger,
      groupsMax: options.catchUpGroupsMax ?? CATCH_UP_GROUPS_MAX,
      offerBytesMax: OFFER_BYTES_MAX,
      readsMax: options.historyReadsMax ?? HISTORY_READS_MAX,
      visitsMax,
    });
    const closed = (stream: StreamState): void => {
      this.#streams.delete(stream);
    };
    this.#live = live;
    this.#backlogs = backlogs;
    this.#catchUp = catchUp;
    this.#parts = {
      live,
      catchUp,
      clock,
      random,
      progressIntervalMs,
      visitsMax,
      storeRevision,
      closed,
      calling: false,
    };
  }

  /** The last one published. */
  get revision(): Revision {
    return this.#revision;
  }

  get stats(): WatchHubStats {
    let watchers = 0;
    for (const stream of this.#streams) watchers += stream.size;
    return {
      streams: this.#streams.size,
      watchers,
      slowWatchers: this.#catchUp.size,
      pendingEvents: this.#backlogs.events,
      pendingBytes: this.#backlogs.bytes,
    };
  }

  /** False: what is published now reaches nobody. */
  wantsEvents(): boolean {
    return this.#live.size > 0;
  }

  /**
   * Whether somebody who gets events of this key wants the superseded version: then it is to be loaded before the event
   * is published. Who comes between the question and the event gets it from history.
   */
  wantsPrevKv(key: Uint8Array): boolean {
    return this.#live.wantsPrevKv(key);
  }

  /** In revision order, without gaps. History must already know of it: a watcher that falls behind reads it there. */
  publish(batch: CommittedBatch): void {
    assert(!this.#parts.calling, 'a watch sink published');
    for (const group of batch.groups) {
      assert(group.revision === this.#revision + 1, 'published out of order');
      assert(group.events.length > 0, 'published a revision without a change');
      this.#revision = group.revision;
    }
    assert(batch.revision === this.#revision, 'a batch that ends elsewhere than its groups');
    this.#live.publish(batch.groups, this.#revision);
    this.#catchUp.pump();
  }

  /** History below it is gone: those that are behind and need it are cancelled, the first at once, many over some turns. */
  compacted(compactRevision: Revision): void {
    assert(!this.#parts.calling, 'a watch sink compacted');
    this.#catchUp.compacted(compactRevision);
    this.#catchUp.pump();
  }

  openStream(sink: WatchSink): WatchStream {
    const stream = new StreamState(this.#parts, sink);
    this.#streams.add(stream);
    if (this.#closed) stream.close();
    return stream;
  }

  /**
   * Closes all streams, without a word to their sinks: their owners end them. A stream that is opened later is closed
   * from the beginning.
   */
  close(): void {
    this.#closed = true;
    for (const stream of this.#streams) stream.close();
  }
}

import { assert, type Clock, type CommittedBatch, type Logger, type Random, type Revision } from '@engram/core';
import type { Job, Loop, Task } from '@engram/loop';
import { Backlogs } from './live/backlog.ts';
import { CatchUp } from './catch-up/catch-up.ts';
import { LiveSet } from './live/live-set.ts';
import { WATCH_LIMITS, type WatchLimits } from './limits.ts';
import type { History, WatchSink, WatchStream } from './ports.ts';
import { Publication, type PublicationOptions } from './live/publication.ts';
import { Published } from './published.ts';
import { type StreamParts, StreamState } from './streams/stream-state.ts';
import { Walks } from './walks.ts';

export interface WatchHubOptions {
  readonly history: History;
  /** The store's revision at the start. The first group published must be the one after it. */
  readonly revision: Revision;
  readonly clock: Clock;
  /** The owner of the event loop's time, by the same clock. */
  readonly loop: Loop;
  readonly random: Random;
  /** Time between two periodic progress messages of a watcher without events. A jitter of up to a tenth is added. */
  readonly progressIntervalMs: number;
  readonly logger?: Logger;
  /** Revisions in one offer to a watcher that catches up (etcd: watchBatchMaxRevs). */
  readonly catchUpGroupsMax?: number;
  /** Concurrent reads of history, over all streams. */
  readonly historyReadsMax?: number;
  /** Memory of pages that were read lately, which watchers that are behind at the same revision share. */
  readonly recentBytesMax?: number;
  /** Time limit of one read. The hub gives up a read that takes longer and breaks its stream. */
  readonly historyReadMsMax?: number;
  /** Revisions kept for a watcher while a read is under way. Later revisions need another read. */
  readonly backlogGroupsMax?: number;
  /** Memory limit of the backlog of one watcher. */
  readonly backlogBytesMax?: number;
  /** Memory limit of the backlogs of all watchers together. */
  readonly backlogTotalBytesMax?: number;
  readonly limits?: Partial<WatchLimits>;
}

/** The hub's gauges. */
export interface WatchHubStats {
  readonly streams: number;
  readonly watchers: number;
  /**
   * Watchers that are behind: they wait for history, or for room in their stream. After the close of a stream with very
   * many of them, they still count for some turns of the event loop.
   */
  readonly slowWatchers: number;
  /** Events held for watchers whose read of history is under way. */
  readonly pendingEvents: number;
  /** Memory of these events. Bytes that two backlogs share are counted twice. */
  readonly pendingBytes: number;
}

const CATCH_UP_GROUPS_MAX = 1000;
const HISTORY_READ_MS_MAX = 10_000;
const RECENT_BYTES_MAX = 16 * 1024 * 1024;
const OFFER_BYTES_MAX = 1 << 20;
const HISTORY_READS_MAX = 8;
/**
 * A page takes 50 ms, so 10,000 revisions keep up with 200k matching writes a second. Eight full backlogs are 80k
 * references.
 */
const BACKLOG_GROUPS_MAX = 10_000;
const BACKLOG_BYTES_MAX = 8 << 20;
const BACKLOG_TOTAL_BYTES_MAX = 32 << 20;

const PUBLISH: Task = { work: 'durable', caller: 'watches', stage: 'publish' };

/**
 * Takes committed batches and sends each watcher its events: in order, each exactly once, and revisions whole. A batch
 * reaches the sinks of its live watchers within the call, if a slice of the loop is enough. Past events are read from
 * history in pages. The hub holds no events beyond what a read under way needs, so a slow client costs reads, not
 * memory.
 */
export class WatchHub {
  readonly #live: LiveSet;
  readonly #backlogs: Backlogs;
  readonly #catchUp: CatchUp;
  readonly #parts: StreamParts;
  readonly #streams = new Set<StreamState>();
  readonly #published: Published;
  readonly #loop: Loop;
  readonly #publication: PublicationOptions;
  /** True until all of a batch is done, and all who waited for that are told. */
  #publishing = false;
  #closed = false;

  constructor(options: WatchHubOptions) {
    assert(options.progressIntervalMs >= 1, 'progress without an interval');
    const published = new Published(options.revision);
    const { history, clock, loop, random, progressIntervalMs } = options;
    const limits = { ...WATCH_LIMITS, ...options.limits };
    const walks = new Walks(loop, clock);
    const backlogs = new Backlogs({
      groupsMax: options.backlogGroupsMax ?? BACKLOG_GROUPS_MAX,
      bytesMax: options.backlogBytesMax ?? BACKLOG_BYTES_MAX,
      totalBytesMax: options.backlogTotalBytesMax ?? BACKLOG_TOTAL_BYTES_MAX,
    });
    const live = new LiveSet({
      random,
      backlogs,
      behind: (watcher, next) => this.#catchUp.add(watcher, next),
    });
    const catchUp = new CatchUp({
      history,
      live,
      backlogs,
      clock,
      published,
      logger: options.logger,
      groupsMax: options.catchUpGroupsMax ?? CATCH_UP_GROUPS_MAX,
      offerBytesMax: OFFER_BYTES_MAX,
      readsMax: options.historyReadsMax ?? HISTORY_READS_MAX,
      readMsMax: options.historyReadMsMax ?? HISTORY_READ_MS_MAX,
      recentBytesMax: options.recentBytesMax ?? RECENT_BYTES_MAX,
      limits,
      loop,
      walks,
    });
    const closed = (stream: StreamState): void => {
      this.#streams.delete(stream);
    };
    this.#published = published;
    this.#loop = loop;
    this.#publication = { live, turn: loop, limits, offerBytesMax: OFFER_BYTES_MAX };
    this.#live = live;
    this.#backlogs = backlogs;
    this.#catchUp = catchUp;
    this.#parts = {
      live,
      catchUp,
      clock,
      random,
      progressIntervalMs,
      loop,
      walks,
      published,
      closed,
      calling: false,
    };
  }

  /** The last revision published. */
  get revision(): Revision {
    return this.#published.revision;
  }

  /** The store's revision, for the header of a response. Above `revision` while a batch is published. */
  get header(): Revision {
    return this.#published.header;
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

  /** Returns false if no watcher would get an event that is published now. */
  wantsEvents(): boolean {
    return this.#live.size > 0;
  }

  /**
   * Whether a live watcher of this key wants the superseded version. If so, the caller should load it before it
   * publishes the event. A watcher that becomes live between this call and the event gets the event from history.
   */
  wantsPrevKv(key: Uint8Array): boolean {
    return this.#live.wantsPrevKv(key);
  }

  /**
   * Publishes a batch. Batches come in revision order, without gaps. History must have the batch already, because a
   * watcher that falls behind reads it there.
   *
   * When the call for an ordinary batch returns, every live watcher's sink has its matches and the hub's revision has
   * moved. A batch that takes longer than a slice of the loop gives way, and the call returns a promise. The revision moves
   * before the promise resolves, and no other batch may be published until then. Meanwhile no progress is sent, and new
   * watchers begin behind the batch, or get it from history if they ask for it. The promise rejects for a broken invariant only.
   */
  publish(batch: CommittedBatch): Promise<void> | undefined {
    assert(!this.#parts.calling, 'a watch sink published');
    assert(!this.#publishing, 'published while a batch is being published');
    const { groups, revision } = batch;
    let last = this.#published.revision;
    for (const group of groups) {
      assert(group.revision === last + 1, 'published out of order');
      assert(group.events.length > 0, 'published a revision without a change');
      last = group.revision;
    }
    assert(revision === last, 'a batch that ends elsewhere than its groups');
    if (this.#live.size === 0 || groups.length === 0) {
      this.#published.move(revision);
      this.#catchUp.pump();
      return undefined;
    }
    return this.#loop.run(PUBLISH, this.#publish(new Publication(this.#publication, groups, revision), revision));
  }

  *#publish(publication: Publication, revision: Revision): Job<undefined> {
    this.#publishing = true;
    this.#published.begin(revision);
    if (!publication.some()) yield* publication.rest();
    const waiting = this.#published.end();
    this.#catchUp.resumeHeld();
    for (const act of waiting) {
      act();
      if (this.#loop.shouldYield()) yield;
    }
    this.#publishing = false;
    return undefined;
  }

  /**
   * Cancels the watchers that need history below the revision, which is gone. Many watchers are cancelled over several
   * turns of the event loop.
   */
  compacted(compactRevision: Revision): void {
    assert(!this.#parts.calling, 'a watch sink compacted');
    this.#catchUp.compacted(compactRevision);
    this.#catchUp.pump();
  }

  /** `client`: streams of one client have together as much of the loop's time as those of another. */
  openStream(sink: WatchSink, client: object | string = sink): WatchStream {
    const stream = new StreamState(this.#parts, sink, client);
    this.#streams.add(stream);
    if (this.#closed) stream.close();
    return stream;
  }

  /**
   * Closes all streams. Their sinks are not called; the owners end them. A stream that is opened later is closed at
   * once.
   */
  close(): void {
    this.#closed = true;
    for (const stream of this.#streams) stream.close();
  }
}

import {
  assert,
  type Clock,
  EngramError,
  type EventGroup,
  type Int64,
  isInt64,
  isEmptyRange,
  LinkedQueue,
  type Random,
  type Revision,
} from '@engram/core';
import type { Loop, Task } from '@engram/loop';
import type { CatchUp } from '../catch-up/catch-up.ts';
import type { LiveSet } from '../live/live-set.ts';
import type { CreateOutcome, Watcher, WatchRequest, WatchSink, WatchStream } from '../ports.ts';
import type { Published } from '../published.ts';
import { StreamProgress } from './stream-progress.ts';
import { type Walks, walking } from '../walks.ts';
import { WatcherState, type WatcherStream } from '../live/watcher-state.ts';

/** The parts that all streams of a hub share. */
export interface StreamParts {
  readonly live: LiveSet;
  readonly catchUp: CatchUp;
  readonly clock: Clock;
  readonly random: Random;
  readonly progressIntervalMs: number;
  readonly loop: Loop;
  readonly walks: Walks;
  readonly published: Published;
  readonly closed: (stream: StreamState) => void;
  /** True during a call of a sink, which must not change the hub. */
  calling: boolean;
}

/** One stream: its watchers by id, and the only code that calls its sink. */
export class StreamState implements WatchStream, WatcherStream {
  readonly #parts: StreamParts;
  readonly #sink: WatchSink;
  readonly #watchers = new Map<Int64, WatcherState>();
  readonly progress: StreamProgress;
  readonly task: Task;
  #nextId = 0;
  #closed = false;
  #full = false;
  readonly waiting = new LinkedQueue<WatcherState>();
  queued = false;
  before: WatcherStream | undefined;
  after: WatcherStream | undefined;

  constructor(parts: StreamParts, sink: WatchSink, client: object | string) {
    this.#parts = parts;
    this.#sink = sink;
    this.task = { work: 'catch-up', caller: client, stage: 'watch' };
    const { clock, random, progressIntervalMs, loop, walks, published } = parts;
    this.progress = new StreamProgress({
      clock,
      delayMs: progressIntervalMs * (1 + random.uint32() / 2 ** 32 / 10),
      loop,
      walks,
      task: this.task,
      published,
      send: (watcher, revision) => {
        if (!this.#full) this.#call(() => this.#sink.progress(watcher, revision));
      },
    });
  }

  get full(): boolean {
    return this.#full;
  }

  get size(): number {
    return this.#watchers.size;
  }

  create(request: WatchRequest): CreateOutcome {
    this.#assertOutsideSink();
    if (this.#closed) throw new EngramError('Stopped');
    assert(isInt64(request.watchId), 'a watch id that is no 64-bit integer, or not in its one form');
    if (request.startRevision < 0) return { kind: 'refused', reason: 'negative-revision' };
    if (isEmptyRange(request.range)) return { kind: 'refused', reason: 'empty-range' };
    if (request.watchId !== 0 && this.#watchers.has(request.watchId))
      return { kind: 'refused', reason: 'duplicate-id' };
    // Not what has reached all watchers: the batch that is being published can be read, and clients may know of its revisions.
    const { header: revision } = this.#parts.published;
    const watcher = new WatcherState(
      request.watchId === 0 ? this.#assignId() : request.watchId,
      request,
      this,
      revision,
    );
    this.#watchers.set(watcher.watchId, watcher);
    this.progress.add(watcher);
    return { kind: 'created', watcher, revision };
  }

  start(started: Watcher): void {
    this.#assertOutsideSink();
    const watcher = this.#watchers.get(started.watchId);
    if (watcher === undefined || watcher !== started) return; // cancelled before its start
    assert(watcher.phase === 'created', 'started twice');
    const { live, catchUp, published } = this.#parts;
    // The batch that is being published counts as past, because its publication may have passed this range already.
    if (watcher.next > published.header) {
      watcher.enter('live');
      live.add(watcher);
    } else if (!catchUp.endIfCompacted(watcher)) {
      catchUp.add(watcher, watcher.next);
      catchUp.pump();
    }
  }

  cancel(watchId: Int64): boolean {
    this.#assertOutsideSink();
    const watcher = this.#closed ? undefined : this.#watchers.get(watchId);
    if (watcher === undefined) return false;
    this.#drop(watcher);
    return true;
  }

  requestProgress(): void {
    this.#assertOutsideSink();
    if (!this.#full) this.progress.request();
  }

  drained(): void {
    this.#assertOutsideSink();
    if (this.#closed || !this.#full) return;
    this.#full = false;
    this.#parts.catchUp.resume(this);
  }

  close(): void {
    if (this.#closed) return;
    this.#assertOutsideSink();
    this.#closed = true;
    this.#full = true;
    this.progress.stop();
    this.#parts.closed(this);
    const drop = (watcher: WatcherState): boolean => {
      this.#drop(watcher);
      return true;
    };
    this.#parts.walks.begin(this.task, walking(this.#watchers, drop, this.#parts.loop));
  }

  offer(watcher: WatcherState, groups: readonly EventGroup[], headerRevision: Revision): boolean {
    if (this.#full) return this.#closed; // a closed stream has no more reads, so this counts as taken
    this.#parts.calling = true;
    const taken = this.#sink.events(watcher, groups, headerRevision);
    this.#parts.calling = false;
    if (taken) watcher.quiet = false;
    else this.#full = true;
    return taken;
  }

  prepare(watcher: WatcherState, groups: readonly EventGroup[]): Promise<void> | undefined {
    return this.#full ? undefined : this.#sink.prepare?.(watcher, groups);
  }

  endCompacted(watcher: WatcherState, compactRevision: Revision): void {
    if (this.#closed) return; // its watchers are being dropped
    this.#drop(watcher);
    this.#call(() => this.#sink.compacted(watcher, compactRevision));
  }

  /**
   * Breaks the stream. It is closed before the call of `failed`, so the owner's calls during `failed` have no effect.
   */
  fail(cause: unknown): void {
    if (this.#closed) return;
    this.close();
    this.#call(() => this.#sink.failed(cause));
  }

  #drop(watcher: WatcherState): void {
    this.#watchers.delete(watcher.watchId);
    this.#parts.catchUp.remove(watcher);
    this.#parts.live.remove(watcher);
    watcher.enter('dead');
  }

  /** The smallest id that was never assigned and is not in use. Source: etcd server/storage/mvcc/watcher.go. */
  #assignId(): number {
    while (this.#watchers.has(this.#nextId)) this.#nextId += 1;
    this.#nextId += 1;
    return this.#nextId - 1;
  }

  #call(sinkCall: () => void): void {
    this.#parts.calling = true;
    sinkCall();
    this.#parts.calling = false;
  }

  #assertOutsideSink(): void {
    assert(!this.#parts.calling, 'a watch sink called back into the hub');
  }
}

import { EVENT_PUT, type EventGroup, type KvEvent, type Logger, type LogPosition } from '@engram/core';
import { type Job, type Loop, type PureJob, settled, type Task } from '@engram/loop';
import type { RecordCache, Scanner, VersionBytes } from '@engram/scanner';
import type { WatchHub } from '@engram/watch-hub';
import type { CommittedWrite } from './committed-write.ts';
import type { ReplicatedState } from './replicated-state.ts';

interface DurableBatch {
  readonly writes: readonly CommittedWrite[];
  readonly next: LogPosition;
  readonly applied: () => void | Promise<void>;
  ready: boolean;
}

/** The most events of a batch whose superseded versions are loaded while the batch is appended. */
const PREFETCH_EVENTS = 4096;
/** Versions that are loaded in one read. */
const LOAD_VERSIONS = 1024;
const APPLY: Task = { work: 'durable', caller: 'log', stage: 'apply' };

export interface ApplierOptions {
  readonly state: ReplicatedState;
  readonly hub: WatchHub;
  readonly cache: RecordCache;
  readonly bytes: VersionBytes;
  readonly scanner: Scanner;
  /** Every record before this position has taken effect. */
  readonly next: LogPosition;
  readonly logger: Logger;
  readonly loop: Loop;
  /** A write that a member forwarded to the leader has taken effect. */
  readonly onForwarded: (write: CommittedWrite) => void;
  /** `next` has moved. */
  readonly onApplied: () => void;
  /** A compaction has taken effect: its garbage may be freed. */
  readonly onCompacted: () => void;
  /** An invariant is broken. */
  readonly onFatal: (error: Error) => void;
}

/**
 * Makes durable batches visible. Batches take effect in the order of the log. The state takes a batch, readers see
 * its revision, watchers get its events, and then its callers are answered: all that in the call that brings it, unless it
 * takes more than a slice. A batch waits only for those before it, and if a watcher wants a superseded version that must be read
 * from storage, because the event must not leave without it. The read starts when the batch leaves for the log, so mostly both
 * are done at the same time.
 */
export class Applier {
  readonly #options: ApplierOptions;
  readonly #queue: DurableBatch[] = [];
  readonly #neverAborted = new AbortController().signal;
  #next: LogPosition;
  /** A job lets batches take effect, one after the other. */
  #busy = false;
  /** A write is moving its keys between leases. */
  #moving = false;
  #whenMoved: (() => void)[] = [];
  #whenIdle: (() => void)[] = [];

  constructor(options: ApplierOptions) {
    this.#options = options;
    this.#next = options.next;
  }

  /** Every record before this position has taken effect. */
  get next(): LogPosition {
    return this.#next;
  }

  /** Resolves when every batch given to `apply` has taken effect. */
  async idle(): Promise<void> {
    while (this.#queue.length > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /**
   * Starts to load the superseded versions that watchers want of these events. Stops at the write that exceeds
   * PREFETCH_EVENTS.
   */
  prefetch(writes: readonly CommittedWrite[]): void {
    const { hub } = this.#options;
    if (!hub.wantsEvents()) return;
    const missing: KvEvent[] = [];
    let left = PREFETCH_EVENTS;
    for (const { group } of writes) {
      if (group === undefined) continue;
      left -= group.events.length;
      if (left < 0) break;
      for (const event of group.events) if (hub.wantsPrevKv(event.key)) this.#fillPrevious(event, missing);
    }
    if (missing.length > 0) void this.#options.loop.run(APPLY, this.#prefetching(missing));
  }

  *#prefetching(missing: readonly KvEvent[]): Job<undefined> {
    try {
      yield* this.#load(missing);
    } catch {
      // `apply` reads again what is missing, and handles the error.
    }
  }

  /**
   * Takes durable writes. `applied` is called when they have taken effect and watchers know of them. The next batch
   * takes effect when its promise has resolved.
   */
  apply(writes: readonly CommittedWrite[], next: LogPosition, applied: () => void | Promise<void>): void {
    const batch: DurableBatch = { writes, next, applied, ready: false };
    this.#queue.push(batch);
    void this.#options.loop.run(APPLY, this.#applying(batch));
  }

  /** Resolves when no write is moving keys between leases. Then the keys of all leases are those of one revision. */
  async wholeLeases(): Promise<void> {
    while (this.#moving) await new Promise<void>((resolve) => this.#whenMoved.push(resolve));
  }

  *#applying(batch: DurableBatch): Job<undefined> {
    try {
      const missing = yield* this.#settle(batch.writes);
      if (missing.length > 0) yield* this.#bring(missing);
      batch.ready = true;
      if (!this.#busy) yield* this.#advance();
    } catch (error) {
      this.#failed(error);
    }
  }

  /**
   * Lets the cache evict the bytes of these writes. Returns the events whose superseded version a watcher wants and
   * memory does not have.
   */
  *#settle(writes: readonly CommittedWrite[]): PureJob<readonly KvEvent[]> {
    const { cache, hub, loop } = this.#options;
    const missing: KvEvent[] = [];
    const watched = hub.wantsEvents();
    for (const { group } of writes) {
      if (group === undefined) continue;
      for (const event of group.events) {
        cache.settle(event.position);
        const superseded = event.prevPosition;
        const wanted = watched && hub.wantsPrevKv(event.key);
        if (wanted) this.#fillPrevious(event, missing);
        // The next write of a key that is watched supersedes it in turn. A key that was read lately is read again.
        if (event.type === EVENT_PUT && (wanted || (superseded !== undefined && cache.hasRead(superseded))))
          cache.add(event.position, event.kv);
        if (loop.shouldYield()) yield;
      }
    }
    return missing;
  }

  *#bring(missing: readonly KvEvent[]): Job<void> {
    try {
      yield* this.#load(missing);
    } catch (error) {
      // The write is durable, so it takes effect. A watcher that wants the superseded version is served from
      // history, where the same failure ends only its own stream. A record that cannot be read must not end every
      // node in turn.
      this.#options.logger.error(
        { error: String(error), events: missing.length },
        'superseded versions could not be read for watchers',
      );
    }
  }

  /** Lets the batches take effect that are ready, in their order. One job at a time. */
  *#advance(): Job<void> {
    this.#busy = true;
    for (let batch = this.#queue[0]; batch?.ready === true; batch = this.#queue[0]) {
      yield* this.#takeEffect(batch);
      this.#next = batch.next;
      const applied = batch.applied();
      this.#options.onApplied();
      yield* settled(applied);
      this.#queue.shift(); // cheap: the queue has a handful of batches at most
    }
    this.#busy = false;
    if (this.#queue.length === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** The one place where a write takes effect. */
  *#takeEffect({ writes }: DurableBatch): Job<void> {
    const { state, hub, loop, onForwarded, onCompacted } = this.#options;
    const compacted = state.compactRevision;
    this.#moving = true;
    yield* state.take(writes, loop);
    this.#moving = false;
    if (this.#whenMoved.length > 0) for (const resolve of this.#whenMoved.splice(0)) resolve();
    const groups: EventGroup[] = [];
    for (const write of writes) {
      if (write.origin !== undefined) onForwarded(write);
      if (write.group !== undefined) groups.push(write.group);
    }
    // In the slice in which the state has moved: no reader may see a revision before the watchers are told.
    const published = groups.length === 0 ? undefined : hub.publish({ groups, revision: state.revision });
    if (published !== undefined) yield published;
    if (state.compactRevision === compacted) return;
    hub.compacted(state.compactRevision);
    onCompacted();
  }

  /** Fills in the superseded version if it can be had at once, and otherwise adds the event to `missing`. */
  #fillPrevious(event: KvEvent, missing: KvEvent[]): void {
    if (event.prevPosition === undefined || event.prevKv !== undefined) return;
    event.prevKv = this.#options.bytes.peekLast(event.prevPosition);
    if (event.prevKv === undefined) missing.push(event);
  }

  *#load(events: readonly KvEvent[]): Job<void> {
    // No compaction that could be decided now removes the version before an event that has not taken effect.
    const { scanner, state, loop } = this.#options;
    for (let from = 0; from < events.length; from += LOAD_VERSIONS) {
      const part = events.slice(from, from + LOAD_VERSIONS);
      const positions = part.map((event) => event.prevPosition!);
      const kvs = yield* settled(scanner.versions(positions, state.revision, this.#neverAborted));
      for (let at = 0; at < part.length; at += 1) part[at]!.prevKv = kvs[at]!;
      if (loop.shouldYield(part.length)) yield;
    }
  }

  #failed(error: unknown): void {
    this.#options.onFatal(
      error instanceof Error ? error : new Error('a write could not take effect', { cause: error }),
    );
  }
}

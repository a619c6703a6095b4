import {
  type Clock,
  type CommittedBatch,
  doSliced,
  EVENT_PUT,
  type EventGroup,
  type KvEvent,
  type Logger,
  type LogPosition,
  type Revision,
  Slice,
  type SlicedWork,
} from '@engram/core';
import type { RecordCache, Scanner, VersionBytes } from '@engram/scanner';
import type { WatchHub } from '@engram/watch-hub';
import type { CommittedWrite } from './committed-write.ts';
import { longWriteChanges } from './long-write.ts';
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
/** Costs in microseconds: settling an event, asking whether its key is watched, and loading a version. */
const SETTLE_US = 0.2;
const WATCHED_US = 1;
const LOAD_US = 1;

export interface ApplierOptions {
  readonly state: ReplicatedState;
  readonly hub: WatchHub;
  readonly cache: RecordCache;
  readonly bytes: VersionBytes;
  readonly scanner: Scanner;
  /** Every record before this position has taken effect. */
  readonly next: LogPosition;
  readonly logger: Logger;
  readonly clock: Clock;
  /** See `Slice`. */
  readonly sliceUs: number | undefined;
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
 * its revision, watchers get its events, and then its callers are answered. A batch waits only if a watcher wants a
 * superseded version that must be read from storage, because the event must not leave without it. The read starts
 * when the batch leaves for the log, so mostly both are done at the same time.
 */
export class Applier {
  readonly #options: ApplierOptions;
  readonly #queue: DurableBatch[] = [];
  readonly #neverAborted = new AbortController().signal;
  #next: LogPosition;
  /** A batch takes effect in slices, or is answered in slices. */
  #busy = false;
  /** Settles when a write with very many changes has moved its keys between leases. Undefined if none is moving keys. */
  #moving: Promise<void> | undefined;
  #idle: (() => void)[] = [];

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
    while (this.#queue.length > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
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
    // `apply` reads again what is missing, and handles the error.
    if (missing.length > 0) this.#load(missing, this.#newSlice()).catch(() => undefined);
  }

  /**
   * Takes durable writes. `applied` is called when they have taken effect and watchers know of them. The next batch
   * takes effect when its promise has resolved.
   */
  apply(writes: readonly CommittedWrite[], next: LogPosition, applied: () => void | Promise<void>): void {
    try {
      const batch: DurableBatch = { writes, next, applied, ready: false };
      this.#queue.push(batch);
      const slice = this.#newSlice();
      const missing = doSliced(this.#settle(writes, slice), () => slice.turn(this.#options.clock));
      if (missing instanceof Promise || missing.length > 0) void this.#loadThenAdvance(batch, missing, slice);
      else {
        batch.ready = true;
        this.#advance();
      }
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Resolves when no write is moving keys between leases. Then the keys of all leases are those of one revision. */
  async wholeLeases(): Promise<void> {
    while (this.#moving !== undefined) await this.#moving;
  }

  /**
   * Lets the cache evict the bytes of these writes. Returns the events whose superseded version a watcher wants and
   * memory does not have.
   */
  *#settle(writes: readonly CommittedWrite[], slice: Slice): SlicedWork<readonly KvEvent[]> {
    const { cache, hub } = this.#options;
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
        if (slice.spend(watched ? WATCHED_US : SETTLE_US)) yield;
      }
    }
    return missing;
  }

  async #loadThenAdvance(
    batch: DurableBatch,
    settling: readonly KvEvent[] | Promise<readonly KvEvent[]>,
    slice: Slice,
  ): Promise<void> {
    try {
      const missing = await settling;
      try {
        await this.#load(missing, slice);
      } catch (error) {
        // The write is durable, so it takes effect. A watcher that wants the superseded version is served from
        // history, where the same failure ends only its own stream. A record that cannot be read must not end every
        // node in turn.
        this.#options.logger.error(
          { error: String(error), events: missing.length },
          'superseded versions could not be read for watchers',
        );
      }
      batch.ready = true;
      this.#advance();
    } catch (error) {
      this.#failed(error);
    }
  }

  #advance(): void {
    while (!this.#busy && this.#queue[0]?.ready === true) {
      const batch = this.#queue[0];
      const effect = this.#takeEffect(batch);
      const finished = effect === undefined ? this.#finish(batch) : effect.then(() => this.#finish(batch));
      if (finished === undefined) {
        this.#queue.shift(); // cheap: the queue has a handful of batches at most
        continue;
      }
      this.#busy = true;
      finished
        .then(() => {
          this.#busy = false;
          this.#queue.shift();
          this.#advance();
        })
        .catch((error: unknown) => this.#failed(error));
    }
    if (this.#queue.length > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /**
   * The one place where a write takes effect. Returns a promise for a very long write, whose watchers are told in
   * slices.
   */
  #takeEffect({ writes }: DurableBatch): Promise<void> | undefined {
    const { state, onForwarded } = this.#options;
    const compacted = state.compactRevision;
    const only = writes.length === 1 ? writes[0] : undefined;
    const longer = longWriteChanges(this.#options.sliceUs);
    if (only?.group !== undefined && only.group.events.length > longer) return this.#takeLong(only, compacted);
    const groups: EventGroup[] = [];
    for (const write of writes) {
      state.take(write);
      if (write.origin !== undefined) onForwarded(write);
      if (write.group !== undefined) groups.push(write.group);
    }
    return this.#publish(groups, compacted);
  }

  async #takeLong(write: CommittedWrite, compacted: Revision): Promise<void> {
    const { state, clock, onForwarded } = this.#options;
    const slice = this.#newSlice();
    const moving = doSliced(state.moveKeys(write, slice), () => slice.turn(clock));
    if (moving instanceof Promise) {
      this.#moving = moving;
      await moving;
    }
    state.takeMoved(write);
    this.#moving = undefined;
    if (write.origin !== undefined) onForwarded(write);
    await this.#publish(write.group === undefined ? [] : [write.group], compacted);
  }

  /** Must run in the turn in which the state has moved: no reader may see a revision before the watchers are told. */
  #publish(groups: readonly EventGroup[], compacted: Revision): Promise<void> | undefined {
    const { state, hub, onCompacted } = this.#options;
    const tellCompacted = (): void => {
      if (state.compactRevision === compacted) return;
      hub.compacted(state.compactRevision);
      onCompacted();
    };
    if (groups.length > 0) {
      const batch: CommittedBatch = { groups, revision: state.revision };
      const published: unknown = hub.publish(batch);
      if (published instanceof Promise) return published.then(tellCompacted);
    }
    tellCompacted();
    return undefined;
  }

  #finish(batch: DurableBatch): Promise<void> | undefined {
    this.#next = batch.next;
    const applied = batch.applied();
    this.#options.onApplied();
    return applied instanceof Promise ? applied : undefined;
  }

  /** Fills in the superseded version if it can be had at once, and otherwise adds the event to `missing`. */
  #fillPrevious(event: KvEvent, missing: KvEvent[]): void {
    if (event.prevPosition === undefined || event.prevKv !== undefined) return;
    event.prevKv = this.#options.bytes.peekLast(event.prevPosition);
    if (event.prevKv === undefined) missing.push(event);
  }

  async #load(events: readonly KvEvent[], slice: Slice): Promise<void> {
    // No compaction that could be decided now removes the version before an event that has not taken effect.
    const { scanner, state, clock } = this.#options;
    for (let from = 0; from < events.length; from += LOAD_VERSIONS) {
      const part = events.slice(from, from + LOAD_VERSIONS);
      const positions = part.map((event) => event.prevPosition!);
      const kvs = await scanner.versions(positions, state.revision, this.#neverAborted);
      for (let at = 0; at < part.length; at += 1) part[at]!.prevKv = kvs[at]!;
      if (slice.spend(LOAD_US * part.length)) await slice.turn(clock);
    }
  }

  #newSlice(): Slice {
    return new Slice(this.#options.sliceUs);
  }

  #failed(error: unknown): void {
    this.#options.onFatal(
      error instanceof Error ? error : new Error('a write could not take effect', { cause: error }),
    );
  }
}

import type { CommittedBatch, EventGroup, KvEvent, Logger, LogPosition } from '@engram/core';
import type { RecordCache, Scanner, VersionBytes } from '@engram/scanner';
import type { WatchHub } from '@engram/watch-hub';
import type { CommittedWrite } from './committed-write.ts';
import type { ReplicatedState } from './replicated-state.ts';

interface DurableBatch {
  readonly writes: readonly CommittedWrite[];
  readonly next: LogPosition;
  readonly applied: () => void;
  ready: boolean;
}

export interface ApplierOptions {
  readonly state: ReplicatedState;
  readonly hub: WatchHub;
  readonly cache: RecordCache;
  readonly bytes: VersionBytes;
  readonly scanner: Scanner;
  /** Everything before it has been applied. */
  readonly next: LogPosition;
  readonly logger: Logger;
  /** A write that this node or another one had passed on to the leader has taken effect. */
  readonly onForwarded: (write: CommittedWrite) => void;
  /** `next` has moved. */
  readonly onApplied: () => void;
  /** A compaction has taken effect: its garbage may be freed. */
  readonly onCompacted: () => void;
  /** An invariant is broken. */
  readonly onFatal: (error: Error) => void;
}

/**
 * From durable to visible. Batches take effect in the order of the log: the state takes them, readers see their
 * revision, watchers get their events, and then their writers are answered. A batch waits only where a watcher wants a
 * superseded version that has to be read from storage: the event must not leave without it. The read starts when the
 * batch leaves for the log, so mostly both are done at the same time.
 */
export class Applier {
  readonly #options: ApplierOptions;
  readonly #queue: DurableBatch[] = [];
  readonly #neverAborted = new AbortController().signal;
  #next: LogPosition;
  #publishing = false;
  #idle: (() => void)[] = [];

  constructor(options: ApplierOptions) {
    this.#options = options;
    this.#next = options.next;
  }

  /** Every record before it has taken effect. */
  get next(): LogPosition {
    return this.#next;
  }

  /** Resolves when everything that was handed over has taken effect. */
  async idle(): Promise<void> {
    while (this.#queue.length > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Begins to load what watchers will want of these events. */
  prefetch(writes: readonly CommittedWrite[]): void {
    const missing = this.#fillPrevious(writes);
    if (missing.length > 0) this.#load(missing).catch(() => undefined); // asked for again, and answered for, in `apply`
  }

  /** The writes are durable; `applied` is called when they have taken effect and watchers know of them. */
  apply(writes: readonly CommittedWrite[], next: LogPosition, applied: () => void): void {
    try {
      for (const { group } of writes) {
        if (group === undefined) continue;
        for (const event of group.events) this.#options.cache.settle(event.position);
      }
      const missing = this.#fillPrevious(writes);
      const batch: DurableBatch = { writes, next, applied, ready: missing.length === 0 };
      this.#queue.push(batch);
      if (batch.ready) this.#advance();
      else void this.#loadThenAdvance(batch, missing);
    } catch (error) {
      this.#failed(error);
    }
  }

  async #loadThenAdvance(batch: DurableBatch, missing: readonly KvEvent[]): Promise<void> {
    try {
      await this.#load(missing);
    } catch (error) {
      // The write is durable, so it takes effect. Who wants the superseded version is served from history, where the
      // same failure ends his stream and nobody else's: a record that cannot be read must not end every node in turn.
      this.#options.logger.error(
        { error: String(error), events: missing.length },
        'superseded versions could not be read for watchers',
      );
    }
    batch.ready = true;
    try {
      this.#advance();
    } catch (error) {
      this.#failed(error);
    }
  }

  #advance(): void {
    while (!this.#publishing && this.#queue[0]?.ready === true) {
      const batch = this.#queue[0];
      const published = this.#takeEffect(batch);
      if (published === undefined) {
        this.#finish(batch);
        continue;
      }
      this.#publishing = true;
      published.then(
        () => {
          this.#publishing = false;
          try {
            this.#finish(batch);
            this.#advance();
          } catch (error) {
            this.#failed(error);
          }
        },
        (error: unknown) => this.#failed(error),
      );
    }
  }

  /** The one place where a write takes effect. A promise: the watchers of a very long revision are told in slices. */
  #takeEffect({ writes }: DurableBatch): Promise<void> | undefined {
    const { state, hub, onCompacted, onForwarded } = this.#options;
    const groups: EventGroup[] = [];
    const compacted = state.compactRevision;
    for (const write of writes) {
      state.take(write);
      if (write.origin !== undefined) onForwarded(write);
      if (write.group !== undefined) groups.push(write.group);
    }
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

  #finish(batch: DurableBatch): void {
    this.#queue.shift(); // a handful of batches at most
    this.#next = batch.next;
    batch.applied();
    this.#options.onApplied();
    if (this.#queue.length > 0 || this.#idle.length === 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Fills in what is in memory; returns the events that still lack what a watcher wants. */
  #fillPrevious(writes: readonly CommittedWrite[]): KvEvent[] {
    const missing: KvEvent[] = [];
    const { hub, bytes } = this.#options;
    if (!hub.wantsEvents()) return missing;
    for (const { group } of writes) {
      if (group === undefined) continue;
      for (const event of group.events) {
        if (event.prevPosition === undefined || event.prevKv !== undefined || !hub.wantsPrevKv(event.key)) continue;
        event.prevKv = bytes.peek(event.prevPosition);
        if (event.prevKv === undefined) missing.push(event);
      }
    }
    return missing;
  }

  async #load(events: readonly KvEvent[]): Promise<void> {
    const positions = events.map((event) => event.prevPosition!);
    // The version before an event that has not taken effect outlives every compaction that could be decided.
    const { scanner, state } = this.#options;
    const kvs = await scanner.versions(positions, state.revision, this.#neverAborted);
    for (let at = 0; at < events.length; at += 1) events[at]!.prevKv = kvs[at]!;
  }

  #failed(error: unknown): void {
    this.#options.onFatal(
      error instanceof Error ? error : new Error('a write could not take effect', { cause: error }),
    );
  }
}

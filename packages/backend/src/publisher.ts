import type { CommittedBatch, EventGroup, KvEvent, LogPosition, Revision } from '@engram/core';
import type { RecordCache, Scanner, VersionBytes } from '@engram/scanner';
import type { WatchHub } from '@engram/watch-hub';

/** A write whose records are in the log or on their way there. */
export interface PendingWrite {
  /** Its events; undefined for a record without a revision. */
  readonly group: EventGroup | undefined;
  /** Durable, visible to readers, and published: answer it. */
  settle(): void;
  /** It is not acknowledged, and whether it is durable is not known. */
  fail(error: Error): void;
}

interface DurableBatch {
  readonly writes: readonly PendingWrite[];
  readonly durable: LogPosition;
  ready: boolean;
}

export interface PublisherOptions {
  readonly hub: WatchHub;
  readonly cache: RecordCache;
  readonly bytes: VersionBytes;
  readonly scanner: Scanner;
  readonly revision: Revision;
  /** Readers see this revision from now on. */
  readonly onVisible: (revision: Revision, durable: LogPosition) => void;
  /** Everything up to `durable` has been answered. */
  readonly onSettled: () => void;
  /** A superseded version that watchers want could not be read. */
  readonly onFailed: (cause: unknown) => void;
}

/**
 * From durable to visible. Batches pass in the order of the log; one waits only where a watcher wants the superseded
 * version of an event and that has to be read from storage: the event must not leave without it. The read starts when
 * the batch leaves for the log, so mostly both are done at the same time.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #queue: DurableBatch[] = [];
  readonly #neverAborted = new AbortController().signal;
  #revision: Revision;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#revision = options.revision;
  }

  /** Begins to load what watchers will want of these events. */
  prefetch(writes: readonly PendingWrite[]): void {
    const missing = this.#fillPrevious(writes);
    if (missing.length > 0) this.#load(missing).catch(() => undefined); // it is asked for again, and answered for, when the batch is durable
  }

  publish(writes: readonly PendingWrite[], durable: LogPosition): void {
    for (const write of writes) {
      if (write.group === undefined) continue;
      for (const event of write.group.events) this.#options.cache.settle(event.position);
    }
    const missing = this.#fillPrevious(writes);
    const batch: DurableBatch = { writes, durable, ready: missing.length === 0 };
    this.#queue.push(batch);
    if (batch.ready) {
      this.#advance();
      return;
    }
    this.#load(missing).then(
      () => {
        batch.ready = true;
        this.#advance();
      },
      (cause: unknown) => this.#options.onFailed(cause),
    );
  }

  #advance(): void {
    while (this.#queue[0]?.ready === true) {
      const { writes, durable } = this.#queue.shift()!; // a handful of batches at most
      const groups: EventGroup[] = [];
      for (const write of writes) if (write.group !== undefined) groups.push(write.group);
      const last = groups.at(-1);
      if (last !== undefined) this.#revision = last.revision;
      this.#options.onVisible(this.#revision, durable);
      const batch: CommittedBatch = { groups, revision: this.#revision };
      if (groups.length > 0) this.#options.hub.publish(batch);
      for (const write of writes) write.settle();
      this.#options.onSettled();
    }
  }

  /** Fills in what is in memory; returns the events that still lack what a watcher wants. */
  #fillPrevious(writes: readonly PendingWrite[]): KvEvent[] {
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
    // The version before an event that is not visible yet outlives every compaction that readers could ask for.
    const kvs = await this.#options.scanner.versions(positions, this.#revision, this.#neverAborted);
    for (let at = 0; at < events.length; at += 1) events[at]!.prevKv = kvs[at]!;
  }
}

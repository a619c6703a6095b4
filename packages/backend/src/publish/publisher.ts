import { EVENT_PUT, type EventGroup, type KvEvent, type Logger } from '@engram/core';
import { type Job, type Loop, settled, type Task } from '@engram/loop';
import type { RecordCache, Scanner, VersionBytes } from '@engram/scanner';
import type { WatchHub } from '@engram/watch-hub';
import type { CommittedWrite } from '../apply/committed-write.ts';
import type { ReplicatedState } from '../apply/replicated-state.ts';

/** The most events of a batch whose superseded versions are loaded while the batch is appended. */
const PREFETCH_EVENTS = 4096;
/** Versions that are loaded in one read. */
const LOAD_VERSIONS = 1024;
const PREFETCH: Task = { work: 'durable', caller: 'log', stage: 'publish' };

export interface PublisherOptions {
  readonly state: ReplicatedState;
  readonly hub: WatchHub;
  readonly cache: RecordCache;
  readonly bytes: VersionBytes;
  readonly scanner: Scanner;
  readonly logger: Logger;
  readonly loop: Loop;
}

/**
 * The stage of publication: watchers get the events of what has taken effect. An event must not leave without the superseded
 * version that a watcher wants. The read of one that memory does not have starts when the batch leaves for the log (`prefetch`),
 * so mostly both are done at the same time.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #neverAborted = new AbortController().signal;
  /** What `prefetch` has begun, by the events that it will fill. */
  readonly #prefetches = new WeakMap<KvEvent, Promise<unknown>>();

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** Some watcher is live, and may get the events of a batch that is published now. */
  get isWatched(): boolean {
    return this.#options.hub.wantsEvents();
  }

  /**
   * Starts to load the superseded versions that watchers want of these events. Stops at the write that exceeds
   * PREFETCH_EVENTS.
   */
  prefetch(writes: readonly CommittedWrite[]): void {
    const { hub, loop } = this.#options;
    if (!hub.wantsEvents()) return;
    const missing: KvEvent[] = [];
    let left = PREFETCH_EVENTS;
    for (const { group } of writes) {
      if (group === undefined) continue;
      left -= group.events.length;
      if (left < 0) break;
      for (const event of group.events) if (hub.wantsPrevKv(event.key)) this.#fillPrevious(event, missing);
    }
    if (missing.length === 0) return;
    const prefetch = loop.run(PREFETCH, this.#prefetching(missing));
    if (prefetch !== undefined) for (const event of missing) this.#prefetches.set(event, prefetch);
  }

  *#prefetching(missing: readonly KvEvent[]): Job<undefined> {
    try {
      yield* this.#load(missing);
    } catch {
      // `prepare` reads again what is missing, and handles the error.
    }
  }

  /**
   * Lets the cache evict the bytes of these writes, which are durable, and loads the superseded versions that watchers want and
   * memory does not have. Must end before the writes take effect.
   */
  *prepare(writes: readonly CommittedWrite[]): Job<void> {
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
    if (missing.length > 0) yield* this.#bring(missing);
  }

  *#bring(wanted: readonly KvEvent[]): Job<void> {
    // An append that is faster than these reads must not have them made twice.
    for (const prefetch of new Set(wanted.map((event) => this.#prefetches.get(event)))) if (prefetch) yield prefetch;
    const missing = wanted.filter(({ prevKv }) => prevKv === undefined);
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

  /**
   * Hands the events of these writes to the watchers. Must be called in the slice in which the writes have taken effect: no reader
   * may see a revision before the hub has it. What takes more than a slice is done when the promise resolves, and nothing else
   * takes effect before.
   */
  publish(writes: readonly CommittedWrite[]): Promise<void> | undefined {
    const groups: EventGroup[] = [];
    for (const { group } of writes) if (group !== undefined) groups.push(group);
    const { hub, state } = this.#options;
    return groups.length === 0 ? undefined : hub.publish({ groups, revision: state.revision });
  }

  /** A compaction has taken effect: cancels the watchers that need what is gone. */
  compacted(): void {
    const { hub, state } = this.#options;
    hub.compacted(state.compactRevision);
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
}

import { type Int64, revision } from '@engram/core';
import { Loop, StepPace } from '@engram/loop';
import { Prng, Scheduler, SimClock } from '@engram/sim';
import { WatchHub, type WatchHubOptions, type WatchRequest, type WatchStream } from '@engram/watch-hub';
import { type Change, FakeSink, FakeStore, request } from './fakes.ts';

export interface WorldOptions {
  /** Whether reads of history settle by themselves. */
  readonly auto?: boolean;
  /** Changes committed before the hub exists, one per revision. */
  readonly history?: readonly Change[];
  readonly hub?: Partial<WatchHubOptions>;
  /** Steps of a slice. If undefined, slices are measured. */
  readonly steps?: number;
  /** The time by which slices are measured. If undefined, that of the clock, which stands still within a turn. */
  readonly nowMs?: () => number;
}

/** A hub over fakes, and one stream on it. */
export class World {
  readonly clock = new SimClock({ scheduler: new Scheduler() });
  readonly loop: Loop;
  readonly store: FakeStore;
  readonly hub: WatchHub;
  readonly sink = new FakeSink();
  readonly stream: WatchStream;

  constructor(options: WorldOptions = {}) {
    this.store = new FakeStore({ auto: options.auto ?? true });
    for (const change of options.history ?? []) this.store.commit([change], () => false);
    const { clock } = this;
    const nowMs = options.nowMs ?? (() => clock.nowMs());
    this.loop = new Loop({
      clock: { nowMs, soon: (fire) => clock.soon(fire) },
      ...(options.steps === undefined ? {} : { pace: new StepPace(options.steps) }),
    });
    this.hub = new WatchHub({
      history: this.store,
      revision: this.store.revision,
      clock,
      loop: this.loop,
      random: new Prng(1),
      progressIntervalMs: 1000,
      ...options.hub,
    });
    this.stream = this.hub.openStream(this.sink);
  }

  /** Publishes one revision. */
  put(...changes: readonly Change[]): void {
    this.hub.publish(this.store.commit(changes, (key) => this.hub.wantsPrevKv(key)));
  }

  /** Publishes one batch with a revision for each list of changes. */
  batch(...revisions: readonly (readonly Change[])[]): Promise<void> | undefined {
    const groups = revisions.flatMap(
      (changes) => this.store.commit(changes, (key) => this.hub.wantsPrevKv(key)).groups,
    );
    return this.hub.publish({ groups, revision: this.store.revision });
  }

  compact(at: number): void {
    this.store.compactRevision = revision(at);
    this.hub.compacted(revision(at));
  }

  /** Creates and starts a watcher in one turn, as an owner does. Returns the id, or why it was refused. */
  watch(pattern: string, options: Partial<WatchRequest> = {}, stream = this.stream): Int64 | string {
    const outcome = stream.create(request(pattern, options));
    if (outcome.kind === 'refused') return outcome.reason;
    stream.start(outcome.watcher);
    return outcome.watcher.watchId;
  }
}

export const from = (at: number): Partial<WatchRequest> => ({ startRevision: revision(at) });

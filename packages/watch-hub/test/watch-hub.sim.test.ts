import {
  type CommittedBatch,
  EVENT_PUT,
  type EventGroup,
  type Int64,
  isEngramError,
  NO_REVISION,
  rangeContains,
  revision,
  type Revision,
  utf8,
} from '@engram/core';
import { WatchHub, type Watcher, type WatchSink, type WatchStream } from '@engram/watch-hub';
import { expect, test } from 'vitest';
import { Loop, SeededPace } from '@engram/loop';
import { Prng, Scheduler, SimClock } from '@engram/sim';
import { type Change, FakeStore, request, settled, text, turn } from './fakes.ts';

const PATTERNS = ['a', 'b', 'ab', 'a*', 'b*', '*', 'ab*', 'a..b', 'ab..bc', 'z'];
const UNREADABLE = new Error('unreadable');
const KEYS = ['a', 'ab', 'abc', 'b', 'ba', 'bc', 'c', 'z'];

/** The model of a watcher. */
interface Promised {
  readonly watcher: Watcher;
  /** The watcher has every match below this revision. */
  next: number;
  started: boolean;
  /**
   * The watcher falls behind only if its stream refuses: it starts from now, in the turn of its creation, without
   * prevKv.
   */
  readonly alwaysLive: boolean;
}

/** A client. It accepts a number of responses, then none until it is drained, and checks each response. */
class SimStream implements WatchSink {
  readonly #world: SimWorld;
  readonly promised = new Map<Int64, Promised>();
  readonly stream: WatchStream;
  readonly watchersMax: number;
  room: number;
  /** Groups that are being made ready, or are ready. */
  readonly #preparing = new WeakMap<readonly EventGroup[], Promise<void> | 'done'>();
  #lastHeader: Revision = NO_REVISION;
  needsDrain = false;
  refused = false;
  broken = false;

  constructor(world: SimWorld, room: number) {
    this.#world = world;
    this.room = room;
    this.watchersMax = world.random.below(8);
    this.stream = world.hub.openStream(this);
  }

  prepare(_watcher: Watcher, groups: readonly EventGroup[]): Promise<void> | undefined {
    const { random, clock } = this.#world;
    // Several watchers may be offered one array: what is ready stays so, and what is begun is waited for by all of them.
    let preparing = this.#preparing.get(groups) ?? (random.chance(0.3) ? 'done' : undefined);
    preparing ??= new Promise<void>((resolve) =>
      clock.soon(() => {
        this.#preparing.set(groups, 'done');
        resolve();
      }),
    );
    this.#preparing.set(groups, preparing);
    return preparing === 'done' ? undefined : preparing;
  }

  events(watcher: Watcher, groups: readonly EventGroup[], headerRevision: Revision): boolean {
    return this.#world.check(() => {
      expect(this.#preparing.get(groups) ?? 'done', 'offered before it was ready').toBe('done');
      const { hub, pageMax } = this.#world;
      expect(this.needsDrain, 'offered before it was drained').toBe(false);
      const promised = this.#known(watcher);
      expect(groups.length).toBeGreaterThan(0);
      expect(groups.length).toBeLessThanOrEqual(pageMax);
      expect(headerRevision).toBe(this.#world.publishing ?? hub.revision);
      expect(headerRevision).toBeGreaterThanOrEqual(groups.at(-1)!.revision);
      this.#header(headerRevision);
      if (this.room === 0) {
        this.needsDrain = this.refused = true;
        return false;
      }
      this.room -= 1;
      for (const group of groups) {
        expect(got(watcher, group)).toBe(this.#world.nextMatch(promised)?.text);
        promised.next = group.revision + 1;
        this.#world.seen.events += 1;
      }
      return true;
    });
  }

  compacted(watcher: Watcher, compactRevision: Revision): void {
    this.#world.check(() => {
      const promised = this.#known(watcher);
      expect(compactRevision).toBe(this.#world.store.compactRevision);
      expect(promised.next, 'cancelled without need').toBeLessThan(compactRevision);
      expect(promised.alwaysLive && !this.refused, 'a live watcher needs no history').toBe(false);
      this.promised.delete(watcher.watchId);
      this.#world.seen.compacted += 1;
    });
  }

  progress(watcher: Watcher | undefined, at: Revision): void {
    this.#world.check(() => {
      expect(at).toBe(this.#world.hub.revision);
      this.#header(at);
      const about = watcher === undefined ? [...this.promised.values()] : [this.#known(watcher)];
      expect(about.length).toBeGreaterThan(0);
      for (const promised of about) {
        expect(promised.started).toBe(true);
        expect(promised.watcher.request.startRevision).toBeLessThanOrEqual(at);
        const unsent = this.#world.nextMatch(promised)?.revision ?? Number.POSITIVE_INFINITY;
        expect(unsent, 'progress overtook an event').toBeGreaterThan(at);
        promised.next = Math.max(promised.next, at + 1);
      }
      this.#world.seen.progress += 1;
    });
  }

  failed(cause: unknown): void {
    this.#world.check(() => {
      const late = isEngramError(cause, 'Timeout');
      if (late) this.#world.seen.late += 1;
      else expect(cause).toBe(UNREADABLE);
      this.broken = true;
      this.promised.clear();
    });
  }

  #header(revision: Revision): void {
    expect(revision, 'a header fell').toBeGreaterThanOrEqual(this.#lastHeader);
    this.#lastHeader = revision;
  }

  #known(watcher: Watcher): Promised {
    const promised = this.promised.get(watcher.watchId);
    expect(promised?.watcher, 'told of a watcher that is gone').toBe(watcher);
    expect(promised!.started, 'told of a watcher that has not started').toBe(true);
    return promised!;
  }
}

function got({ request }: Watcher, group: EventGroup): string {
  if (request.prevKv) return text(group);
  return text({ ...group, events: group.events.map((event) => ({ ...event, prevKv: undefined })) });
}

class SimWorld {
  readonly random: Prng;
  readonly clock: SimClock;
  readonly store = new FakeStore({ auto: false });
  readonly hub: WatchHub;
  readonly pageMax = 4;
  readonly #failures: unknown[] = [];
  streams: SimStream[] = [];
  /** A committed batch that is not published yet. The hub was asked already which superseded versions it wants. */
  #unpublished: CommittedBatch | undefined;
  /** The revision of the batch that the hub is publishing. */
  publishing: Revision | undefined;
  /** The last compact revision that the hub was told. */
  #compacted: Revision = NO_REVISION;
  readonly #leavesNobody: boolean;
  readonly seen = { events: 0, progress: 0, compacted: 0, broken: 0, sliced: 0, between: 0, late: 0 };

  constructor(seed: number) {
    this.random = new Prng(seed);
    this.#leavesNobody = seed % 2 === 0;
    this.store.readMax = () => this.hub.revision;
    this.clock = new SimClock({ scheduler: new Scheduler({ random: new Prng(seed).fork('turns') }) });
    this.store.pageGroupsMax = 3;
    this.store.pageRevisionsMax = 10;
    this.hub = new WatchHub({
      history: this.store,
      revision: this.store.revision,
      clock: this.clock,
      loop: new Loop({ clock: this.clock, pace: new SeededPace(new Prng(seed).fork('slices')) }),
      random: new Prng(seed ^ 0x5eed),
      progressIntervalMs: 100,
      catchUpGroupsMax: this.pageMax,
      historyReadsMax: 3,
      historyReadMsMax: 60,
      // In odd worlds few parts of large revisions are copied, and the rest is left to history.
      limits: { largeGroup: 4, matchesMax: 9, cutEventsMax: seed % 2 === 0 ? 1_000 : 4, stride: 1 },
      backlogGroupsMax: 5,
      backlogBytesMax: 2_200,
      backlogTotalBytesMax: 5_000,
    });
  }

  /**
   * Keeps a failure of `body` for the next step to throw. A failure inside a sink would be lost in the hub's promises.
   */
  check<Result>(body: () => Result): Result {
    try {
      return body();
    } catch (failure) {
      this.#failures.push(failure);
      throw failure;
    }
  }

  /** The model's answer: the first match that the watcher does not have, found by a scan of all events. */
  nextMatch({
    watcher: { request },
    next,
  }: Promised): { readonly revision: number; readonly text: string } | undefined {
    for (const { revision, events } of this.store.groups) {
      if (revision < next) continue;
      const wanted = events.filter(
        ({ key, type }) =>
          rangeContains(request.range, key) && !(type === EVENT_PUT ? request.noPut : request.noDelete),
      );
      if (wanted.length === 0) continue;
      const shown = wanted.map((event) => ({
        ...event,
        prevKv: request.prevKv && event.prevPosition !== undefined ? utf8(`prev@${event.prevModRevision}`) : undefined,
      }));
      return { revision, text: text({ revision, events: shown }) };
    }
    return undefined;
  }

  async step(): Promise<void> {
    this.#act();
    await settled();
    expect(this.#failures).toEqual([]);
    this.seen.broken += this.streams.filter(({ broken }) => broken).length;
    this.streams = this.streams.filter(({ broken }) => !broken);
    const watchers = this.streams.reduce((sum, { promised }) => sum + promised.size, 0);
    expect(this.hub.stats).toMatchObject({ streams: this.streams.length, watchers });
    expect(this.store.reads.length).toBeLessThanOrEqual(3);
    this.#checkLive();
    this.#checkQuiet(watchers);
  }

  #act(): void {
    const { random } = this;
    const stream = this.streams.length === 0 ? undefined : random.pick(this.streams);
    const what = random.below(100);
    if (what < 30) this.#write();
    else if (what < 34) this.#openStream();
    else if (what < 35) this.#closeStream(stream);
    else if (what < 48) this.#create(stream);
    else if (what < 52) this.#start(stream);
    else if (what < 55) this.#cancel(stream);
    else if (what < 62) this.#drain(stream);
    else if (what < 64) this.#compact();
    else if (what < 84) this.#settleRead();
    else if (what < 94) stream?.stream.requestProgress();
    else if (what < 97) this.clock.advance(random.below(60));
    if (random.chance(0.7)) turn(this.clock);
  }

  #write(): void {
    if (this.publishing !== undefined) return;
    if (this.#unpublished === undefined) {
      const groups: EventGroup[] = [];
      const wants = (key: Uint8Array): boolean => this.hub.wantsPrevKv(key);
      for (let count = 1 + this.random.below(3); count > 0; count -= 1) {
        groups.push(...this.store.commit(this.#changes(), wants).groups);
      }
      this.#unpublished = { groups, revision: this.store.revision };
      if (this.random.chance(0.2)) return;
    }
    const batch = this.#unpublished;
    this.#unpublished = undefined;
    this.publishing = batch.revision;
    const sliced = this.hub.publish(batch);
    if (sliced === undefined) {
      this.publishing = undefined;
      return;
    }
    this.seen.sliced += 1;
    expect(this.hub.revision).toBeLessThan(batch.revision);
    sliced.then(
      () => {
        expect(this.hub.revision).toBe(batch.revision);
        this.publishing = undefined;
      },
      (failure: unknown) => this.#failures.push(failure),
    );
  }

  #changes(): readonly Change[] {
    const count = 1 + this.random.below(this.random.chance(0.2) ? KEYS.length : 3);
    const keys = [...new Set(Array.from({ length: count }, () => this.random.pick(KEYS)))];
    if (this.random.chance(0.5)) keys.sort(); // as the deletion of a range does
    return keys.map((key) => (this.random.chance(0.3) ? `-${key}` : key));
  }

  #openStream(): void {
    if (this.streams.length < 5) this.streams.push(new SimStream(this, this.random.below(30)));
  }

  #closeStream(stream: SimStream | undefined): void {
    if (stream === undefined) return;
    stream.stream.close();
    this.streams = this.streams.filter((other) => other !== stream);
  }

  #create(stream: SimStream | undefined): void {
    if (stream === undefined || stream.promised.size > stream.watchersMax) return;
    const { random, hub } = this;
    const start = random.below(3) === 0 ? Math.max(1, hub.revision - 20 + random.below(25)) : 0;
    const prevKv = random.chance(0.3);
    const outcome = stream.stream.create(
      request(random.pick(PATTERNS), {
        startRevision: revision(start),
        prevKv,
        progressNotify: random.chance(0.3),
        noPut: random.chance(0.1),
        noDelete: random.chance(0.1),
      }),
    );
    if (outcome.kind === 'refused') throw new Error(outcome.reason);
    const { watcher } = outcome;
    // The store's: the batch that is being published can be read, and other watchers may have its events.
    const created = this.publishing ?? hub.revision;
    expect(outcome.revision).toBe(created);
    if (this.publishing !== undefined) this.seen.between += 1;
    expect(stream.promised.has(watcher.watchId)).toBe(false);
    const started = random.chance(0.8);
    stream.promised.set(watcher.watchId, {
      watcher,
      next: start === 0 ? created + 1 : start,
      started,
      alwaysLive: start === 0 && started && !prevKv && this.publishing === undefined && this.#leavesNobody,
    });
    if (started) stream.stream.start(watcher);
  }

  #start(stream: SimStream | undefined): void {
    for (const promised of stream?.promised.values() ?? []) {
      if (promised.started) continue;
      promised.started = true;
      stream!.stream.start(promised.watcher);
    }
  }

  #cancel(stream: SimStream | undefined): void {
    if (stream === undefined || stream.promised.size === 0) return;
    const id = this.random.pick([...stream.promised.keys()]);
    stream.promised.delete(id);
    expect(stream.stream.cancel(id)).toBe(true);
    expect(stream.stream.cancel(id)).toBe(false);
  }

  #drain(stream: SimStream | undefined): void {
    if (stream === undefined) return;
    stream.room = this.random.below(10);
    stream.needsDrain = false;
    stream.stream.drained();
  }

  /** History is compacted before the hub is told, so sometimes a read detects the compaction first. */
  #compact(): void {
    const behind = this.random.below(40);
    if (this.hub.revision - behind > this.store.compactRevision) {
      this.store.compactRevision = revision(this.hub.revision - behind);
    }
    if (this.random.chance(0.3)) return;
    this.hub.compacted(this.store.compactRevision);
    this.#compacted = this.store.compactRevision;
  }

  /** After all turns: watchers that need compacted history were told, and removed watchers are not counted. */
  #checkQuiet(watchers: number): void {
    const { scheduler } = this.clock;
    if (scheduler.nextMs !== undefined && scheduler.nextMs <= scheduler.nowMs) return;
    expect(this.hub.stats.slowWatchers).toBeLessThanOrEqual(watchers);
    for (const { promised } of this.streams) {
      for (const each of promised.values()) {
        const unsent = each.started ? (this.nextMatch(each)?.revision ?? Infinity) : Infinity;
        expect(unsent, 'it cannot get this any more').toBeGreaterThanOrEqual(this.#compacted);
      }
    }
  }

  #settleRead(): void {
    if (this.store.reads.length === 0) return;
    const read = this.random.pick(this.store.reads);
    const breaks = this.random.chance(0.01);
    read.settle(breaks ? UNREADABLE : undefined);
  }

  /** Watchers that need no history must have every match at once. */
  #checkLive(): void {
    for (const stream of this.streams) {
      if (stream.refused) continue;
      for (const promised of stream.promised.values()) {
        if (promised.alwaysLive)
          expect(this.nextMatch(promised)?.revision ?? Infinity).toBeGreaterThan(this.hub.revision);
      }
    }
  }

  /** If all sinks have room and history answers, every watcher must get all matches, and progress must be answered. */
  async finish(): Promise<void> {
    await this.clock.pass(0);
    if (this.#unpublished !== undefined) this.#write();
    for (const stream of this.streams) {
      stream.room = Number.POSITIVE_INFINITY;
      stream.needsDrain = false;
      this.#start(stream);
      stream.stream.drained();
    }
    await this.clock.pass(0);
    expect(this.publishing).toBeUndefined();
    while (this.store.reads.length > 0) {
      this.store.reads[0]!.settle();
      await this.clock.pass(0);
    }
    expect(this.#failures).toEqual([]);
    expect(this.hub.stats).toMatchObject({ slowWatchers: 0, pendingEvents: 0 });
    for (const stream of this.streams) {
      const all = [...stream.promised.values()];
      for (const promised of all) expect(this.nextMatch(promised)).toBeUndefined();
      await this.clock.pass(0);
      const before = this.seen.progress;
      stream.stream.requestProgress();
      await this.clock.pass(0);
      const answered = all.length > 0 && all.every(({ watcher }) => watcher.request.startRevision <= this.hub.revision);
      expect(this.seen.progress - before).toBe(answered ? 1 : 0);
    }
    this.hub.close();
    await this.clock.pass(0);
    expect(this.clock.waiting).toBe(0);
    expect(this.hub.stats).toEqual({ streams: 0, watchers: 0, slowWatchers: 0, pendingEvents: 0, pendingBytes: 0 });
  }
}

const fixed = process.env['SEED'];
const first = fixed === undefined ? Date.now() % 2 ** 32 : Number(fixed);
const rounds = fixed === undefined ? Number(process.env['ROUNDS'] ?? 20) : 1;
const steps = Number(process.env['STEPS'] ?? 1500);

const seen = { events: 0, progress: 0, compacted: 0, broken: 0, sliced: 0, between: 0, late: 0 };

test.each(Array.from({ length: rounds }, (_, at) => (first + at) >>> 0))(
  'each watcher gets its sequence and no promise is broken, whatever happens (SEED=%i)',
  async (seed) => {
    const world = new SimWorld(seed);
    for (let step = 0; step < steps; step += 1) await world.step();
    await world.finish();
    for (const what of Object.keys(seen) as (keyof typeof seen)[]) seen[what] += world.seen[what];
  },
);

test.skipIf(rounds * steps < 20_000)('all of it happened: a world in which nothing does proves nothing', () => {
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(rounds / 4);
});

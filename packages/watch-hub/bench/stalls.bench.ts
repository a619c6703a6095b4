import {
  EVENT_DELETE,
  type EventGroup,
  type KeyRange,
  type KvEvent,
  NO_REVISION,
  pointRange,
  prefixRange,
  type Revision,
  revision,
  utf8,
} from '@engram/core';
import { putGroup } from '@engram/core/testing';
import { Loop } from '@engram/loop';
import { realClock, realRandom, StallMeter } from '@engram/sim';
import { type History, WatchHub, type WatchSink, type WatchStream } from '@engram/watch-hub';

/**
 * How long a hub blocks the event loop when an action reaches very many watchers, or a revision has very many events.
 * `longest` is the longest time between two turns in CPU time of the thread; `all` is the total CPU time. The limit is
 * 10 ms.
 */
const smoke = process.env['BENCH'] === 'smoke';
const watchers = smoke ? 200 : 100_000;
const events = smoke ? 2_000 : 300_000;

const PROGRESS_MS = 100;
let compactRevision: Revision = NO_REVISION;
const never = new Promise<never>(() => undefined);
const history: History = {
  get compactRevision() {
    return compactRevision;
  },
  read: () => never,
};

class CountingSink implements WatchSink {
  calls = 0;
  events(): boolean {
    this.calls += 1;
    return true;
  }
  compacted(): void {
    this.calls += 1;
  }
  progress(): void {
    this.calls += 1;
  }
  failed(): void {}
}

async function measure(name: string, work: () => unknown): Promise<void> {
  globalThis.gc?.(); // with --expose-gc, garbage of earlier work does not count
  const before = process.cpuUsage();
  const { stall } = await StallMeter.during(async () => work());
  const { user, system } = process.cpuUsage(before);
  const all = (user + system) / 1000;
  console.log(
    `${name}: longest ${stall.cpuMs.toFixed(1)} ms (by the clock ${stall.wallMs.toFixed(1)}), all ${all.toFixed(0)} ms`,
  );
}

const plain = { prevKv: false, noPut: false, noDelete: false, fragment: false, watchId: 0 };

function watch(stream: WatchStream, range: KeyRange, startRevision = 0, progressNotify = false): void {
  const outcome = stream.create({ ...plain, range, startRevision: revision(startRevision), progressNotify });
  if (outcome.kind === 'created') stream.start(outcome.watcher);
}

/** Waits turn by turn until `done` returns true. */
async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setImmediate(resolve));
}

function hubOf(): WatchHub {
  const at = revision(100);
  const clock = realClock;
  const loop = new Loop({ clock });
  return new WatchHub({ history, revision: at, clock, loop, random: realRandom, progressIntervalMs: PROGRESS_MS });
}

async function oneStream(): Promise<void> {
  const hub = hubOf();
  const sink = new CountingSink();
  const stream = hub.openStream(sink);
  for (let at = 0; at < watchers; at += 1) watch(stream, prefixRange(utf8('/a')), 0, true);
  const put = (at: number): EventGroup => putGroup(revision(at), { key: utf8('/a'), kv: new Uint8Array(200) });
  await measure(`${watchers} watchers of one stream: a put`, () =>
    hub.publish({ groups: [put(101)], revision: revision(101) }),
  );
  await measure(`${watchers} watchers of one stream: 9,200 requests of progress`, () => {
    for (let at = 0; at < 9_200; at += 1) stream.requestProgress();
  });
  sink.calls = 0;
  await measure(`${watchers} watchers of one stream: a round of periodic progress`, () =>
    until(() => sink.calls >= watchers),
  );
  await measure(`${watchers} watchers of one stream: close`, async () => {
    stream.close();
    await until(() => !hub.wantsEvents());
  });
}

async function ranges(): Promise<void> {
  const hub = hubOf();
  const stream = hub.openStream(new CountingSink());
  const keys = Array.from({ length: watchers }, (_, at) => pointRange(utf8(`/key-${at}`)));
  for (const key of keys) watch(stream, key);
  await measure(`${watchers} watchers of a key each: close`, async () => {
    stream.close();
    await until(() => !hub.wantsEvents());
  });
  const nested = hub.openStream(new CountingSink());
  for (let at = 0; at < watchers; at += 1) {
    watch(nested, { key: utf8('/a'), end: utf8(`/b${String(at).padStart(6, '0')}`) });
  }
  const put = putGroup(revision(101), { key: utf8('/az'), kv: new Uint8Array(200) });
  await measure(`${watchers} ranges that all contain a key: a put to it`, () =>
    hub.publish({ groups: [put], revision: revision(101) }),
  );
}

async function compaction(): Promise<void> {
  const hub = hubOf();
  const stream = hub.openStream(new CountingSink());
  for (let at = 0; at < watchers; at += 1) watch(stream, prefixRange(utf8('/a')), 2);
  await measure(`${watchers} watchers that need what a compaction takes`, async () => {
    compactRevision = revision(50);
    hub.compacted(compactRevision);
    await until(() => hub.stats.watchers === 0);
  });
  compactRevision = NO_REVISION;
}

async function deletion(name: string, watched: readonly KeyRange[]): Promise<void> {
  const hub = hubOf();
  const sink = new CountingSink();
  for (const range of watched) watch(hub.openStream(sink), range);
  const deleted: KvEvent[] = Array.from({ length: events }, (_, sub) => {
    const [event] = putGroup(revision(101), {
      key: utf8(`/a/${String(sub).padStart(8, '0')}`),
      kv: new Uint8Array(30),
    }).events;
    return { ...event!, type: EVENT_DELETE, sub };
  });
  await measure(`a deletion of ${events} keys for ${name}`, () =>
    hub.publish({ groups: [{ revision: revision(101), events: deleted }], revision: revision(101) }),
  );
  hub.close();
}

await oneStream();
await ranges();
await compaction();
await deletion(
  '10 watchers of all',
  Array.from({ length: 10 }, () => prefixRange(utf8('/a/'))),
);
await deletion('1,000 that watch parts of it', Array.from({ length: smoke ? 10 : 1_000 }, (_, at) => ({ key: utf8(`/a/${String(at).padStart(8, '0')}`), end: utf8('/b') }))); // biome-ignore format: one line
await deletion(`${watchers} watchers of a key each`, Array.from({ length: watchers }, (_, at) => pointRange(utf8(`/a/${String(at).padStart(8, '0')}`)))); // biome-ignore format: one line

import {
  type Clock,
  type CommittedBatch,
  type KeyRange,
  NO_REVISION,
  prefixRange,
  pointRange,
  revision,
  utf8,
} from '@engram/core';
import { Loop } from '@engram/loop';
import { Prng } from '@engram/sim';
import { putGroup } from '@engram/core/testing';
import { type History, WatchHub, type WatchSink } from '@engram/watch-hub';

// The limit: a search for the watchers of an event is a hash and about log2(ranges) comparisons of texts, some hundred
// nanoseconds. Handing the event to a watcher is a call of its sink, some ten nanoseconds.
const full = process.env['BENCH'] !== 'smoke';

const random = new Prng(1);
const clock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => 0,
  after: () => ({ cancel: () => undefined }),
  soon: (fire) => void setImmediate(fire),
  endOfTurn: () => undefined,
};
const history: History = {
  compactRevision: NO_REVISION,
  read: (_range, _from, to) => Promise.resolve({ groups: [], next: revision(to + 1) }),
};

class CountingSink implements WatchSink {
  calls = 0;
  events(): boolean {
    this.calls += 1;
    return true;
  }
  compacted(): void {}
  progress(): void {}
  failed(): void {}
}

/** `batches` of `size` revisions, one put each. `key` returns text, so that the bytes of a key are new each time. */
function* writes(batches: number, size: number, key: (at: number) => string): Generator<CommittedBatch> {
  const kv = new Uint8Array(512);
  let at = 1;
  for (let batch = 0; batch < batches; batch += 1) {
    const groups = Array.from({ length: size }, () => {
      at += 1;
      return putGroup(revision(at), { key: utf8(key(at)), kv });
    });
    yield { groups, revision: revision(at) };
  }
}

interface Case {
  readonly name: string;
  readonly streams: number;
  readonly ranges: readonly KeyRange[];
  readonly revisions: number;
  readonly key: (at: number) => string;
}

/** CPU time of the process. Other work on the machine does not count. */
function cpuNs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1e3;
}

async function run({ name, streams, ranges, revisions, key }: Case): Promise<void> {
  const hub = new WatchHub({
    history,
    revision: revision(1),
    clock,
    loop: new Loop({ clock }),
    random,
    progressIntervalMs: 600_000,
  });
  const sink = new CountingSink();
  const opened = Array.from({ length: streams }, () => hub.openStream(sink));
  const request = { startRevision: revision(0), prevKv: true, progressNotify: false, noPut: false, noDelete: false };
  let startNs = cpuNs();
  for (const [at, range] of ranges.entries()) {
    const stream = opened[at % streams]!;
    const outcome = stream.create({ ...request, range, fragment: false, watchId: 0 });
    if (outcome.kind === 'created') stream.start(outcome.watcher);
  }
  const createNs = (cpuNs() - startNs) / ranges.length;
  const batches = [...writes(Math.ceil(revisions / 100), 100, key)];
  let wanted = 0;
  startNs = cpuNs();
  for (const batch of batches) {
    for (const { events } of batch.groups) if (hub.wantsPrevKv(events[0]!.key)) wanted += 1;
    await hub.publish(batch);
  }
  const publishNs = cpuNs() - startNs;
  startNs = cpuNs();
  hub.close();
  const closeNs = (cpuNs() - startNs) / ranges.length;
  const published = batches.length * 100;
  const perRevision = `${(publishNs / published).toFixed(0)} ns a revision`;
  const perCall = sink.calls === 0 ? 'none' : `${(publishNs / sink.calls).toFixed(0)} ns a delivery`;
  const rate = `${((sink.calls / publishNs) * 1e3).toFixed(2)} M deliveries/s`;
  const ends = `create ${createNs.toFixed(0)} ns, close ${closeNs.toFixed(0)} ns`;
  console.log(`${name}: ${perRevision}, ${perCall}, ${rate}; ${ends} (hash ${sink.calls}/${wanted})`);
}

const many = full ? 10_000 : 100;
const namespaces = Array.from(
  { length: many },
  (_, at) => `/registry/pods/namespace-${String(at * 7919).padStart(8, '0')}/`,
);
const inNamespace = (at: number): string => `${namespaces[(at * 31) % many]!}pod-${at % 1000}`;

await run({
  name: `${full ? 1000 : 10} watchers of one range`,
  streams: full ? 1000 : 10,
  ranges: Array.from({ length: full ? 1000 : 10 }, () => prefixRange(utf8('/registry/pods/'))),
  revisions: full ? 20_000 : 100,
  key: inNamespace,
});
await run({
  name: `${many} watchers of a namespace each`,
  streams: 100,
  ranges: namespaces.map((namespace) => prefixRange(utf8(namespace))),
  revisions: full ? 300_000 : 100,
  key: inNamespace,
});
await run({
  name: `${many} watchers of a key each`,
  streams: 100,
  ranges: namespaces.map((namespace) => pointRange(utf8(`${namespace}pod`))),
  revisions: full ? 300_000 : 100,
  key: (at) => `${namespaces[(at * 31) % many]!}pod`,
});
await run({
  name: 'a cluster: 60 resources, each watched by 3 apiservers',
  streams: 180,
  ranges: Array.from({ length: 180 }, (_, at) => prefixRange(utf8(`/registry/resource-${at % 60}/`))),
  revisions: full ? 300_000 : 100,
  key: (at) => `/registry/resource-${at % 60}/namespace-${at % 100}/name-${at % 1000}`,
});
await run({
  name: 'one watcher elsewhere',
  streams: 1,
  ranges: [prefixRange(utf8('/registry/pods/'))],
  revisions: full ? 300_000 : 100,
  key: (at) => `/registry/events/namespace-${at % 100}/name-${at % 1000}`,
});
await run({
  name: `one stream with ${many} watchers of one range`,
  streams: 1,
  ranges: Array.from({ length: many }, () => prefixRange(utf8('/registry/pods/'))),
  revisions: full ? 2_000 : 100,
  key: inNamespace,
});

/**
 * The cost of index operations on Kubernetes-shaped keys. SMOKE=1 runs it tiny; KEYS=n sets the number of keys (1M).
 * node packages/index/bench/index.bench.ts
 */
import { type VersionMeta, type LogPosition, logPosition, NO_LEASE, prefixRange, revision, utf8 } from '@engram/core';
import { finish, unhurried } from '@engram/loop';
import { Prng } from '@engram/sim';
import { KeyIndex, type VersionSlot } from '@engram/index';
import { collect, countLive } from '../test/collect.ts';

const smoke = process.env['SMOKE'] !== undefined;
const keyCount = Number(process.env['KEYS'] ?? (smoke ? 2_000 : 1_000_000));
const NAMESPACES = Math.max(1, Math.round(keyCount / 10_000));
const rounds = smoke ? 1_000 : 1_000_000;

// The hash covers every answer, so that nothing is optimised away.
let hash = 0;
const mix = (value: number): void => {
  hash = (Math.imul(hash, 31) + value) | 0;
};

const prng = new Prng(1);
/** The same numbers in every run. */
const random = (below: number): number => prng.below(below);

/** CPU time of this thread, because the machine may have other work. */
function cpuNs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) * 1_000;
}

function report(name: string, operations: number, ns: number, extra = ''): void {
  const each = ns / operations;
  const shown = each >= 1_000 ? `${(each / 1_000).toFixed(2)} us` : `${each.toFixed(0)} ns`;
  console.log(`${name.padEnd(44)} ${shown.padStart(10)}  ${extra}`);
}

function time(name: string, operations: number, run: () => void): void {
  const startNs = cpuNs();
  run();
  report(name, operations, cpuNs() - startNs);
}

/** One object for all versions, because the index copies it. */
const meta: { -readonly [Field in keyof VersionMeta]: VersionMeta[Field] } = {
  createRevision: revision(2),
  modRevision: revision(2),
  sub: 0,
  version: 1,
  lease: NO_LEASE,
  tombstone: false,
  position: logPosition(1),
  bytes: 700,
};
let newest = 1;
function next(tombstone = false): VersionMeta {
  newest += 1;
  meta.modRevision = revision(newest);
  meta.position = logPosition(newest);
  meta.tombstone = tombstone;
  meta.version = tombstone ? 0 : 1;
  return meta;
}

function keyOf(at: number): Uint8Array {
  const namespace = String(at % NAMESPACES).padStart(3, '0');
  const pod = String(Math.floor(at / NAMESPACES)).padStart(6, '0');
  const suffix = (Math.imul(at, 0x9e3779b1) >>> 0).toString(36).padStart(7, '0');
  return utf8(`/registry/pods/ns-${namespace}/deployment-${pod}-6d4cf56db6-${suffix}`);
}

const keys: Uint8Array[] = [];
for (let at = 0; at < keyCount; at += 1) keys.push(keyOf(at));
const shuffled = [...keys];
for (let at = shuffled.length - 1; at > 0; at -= 1) {
  const other = random(at + 1);
  [shuffled[at], shuffled[other]] = [shuffled[other]!, shuffled[at]!];
}
// A server has just read the key that it looks up. So the requested keys are in the caches here, and the index is not.
const asked = Array.from({ length: Math.min(keyCount, 100_000) }, () => keys[random(keyCount)]!.slice());
const keyBytes = keys.reduce((sum, key) => sum + key.length, 0) / keyCount;
console.log(`${keyCount} keys of ${keyBytes.toFixed(1)} bytes, node ${process.version}`);

// The limit: a key of a million is in no cache, so every operation costs a few such accesses.
const ring = new Int32Array(smoke ? 1 << 12 : 1 << 24);
const lines = ring.length >>> 4;
// An odd factor and a power-of-two length visit every line, in an order that no prefetcher guesses.
for (let line = 0; line < lines; line += 1)
  ring[line << 4] = ((Math.imul(line, 0x5851f42d) + 0x3039) & (lines - 1)) << 4;
let place = 0;
time('one dependent memory access, 64 MiB', rounds, () => {
  for (let round = 0; round < rounds; round += 1) place = ring[place]!;
});
mix(place);

const index = new KeyIndex();
time('append, new key, any order', keyCount, () => {
  for (const key of shuffled) mix(index.append(key, next()));
});
const perKey = () => (index.memoryBytes / index.liveKeys - keyBytes).toFixed(1);
console.log(`${'memory for each key besides its bytes'.padEnd(44)} ${perKey().padStart(10)} bytes`);

time('append, new key, ascending in its namespace', keyCount, () => {
  const ascending = new KeyIndex();
  for (const key of keys) mix(ascending.append(key, next()));
});
time('head, any key', rounds, () => {
  for (let round = 0; round < rounds; round += 1) mix(index.head(asked[round % asked.length]!));
});
time('head, no such key', rounds, () => {
  const absent = asked.map((key) => Uint8Array.from([...key.subarray(0, -1), 0x7e]));
  for (let round = 0; round < rounds; round += 1) mix(index.head(absent[round % absent.length]!));
});

const quiet = newest;
const namespaces = Array.from({ length: NAMESPACES }, (_, at) =>
  prefixRange(utf8(`/registry/pods/ns-${String(at).padStart(3, '0')}/`)),
);
const everything = prefixRange(utf8('/registry/pods/'));
const page: VersionSlot[] = [];
function reads(when: string, at: number): void {
  const pages = Math.max(1, rounds / 100);
  time(`collect 500, ${when}`, pages, () => {
    for (let round = 0; round < pages; round += 1) {
      page.length = 0;
      const from = { key: asked[round % asked.length]!, end: everything.end };
      mix(collect(index, from, revision(at), 500, page).length + page[0]!);
    }
  });
  time(`count 10k of a namespace, ${when}`, pages, () => {
    for (let round = 0; round < pages; round += 1) {
      mix(countLive(index, namespaces[random(NAMESPACES)]!, revision(at)));
    }
  });
  time(`count all, ${when}`, pages, () => {
    for (let round = 0; round < pages; round += 1) mix(countLive(index, everything, revision(at)));
  });
}
reads('latest', quiet);
const fewUpdates = Math.min(1_000, rounds);
for (let round = 0; round < fewUpdates; round += 1) mix(index.append(shuffled[random(keyCount)]!, next()));
reads(`${fewUpdates} keys newer`, quiet);
time(`changes of all, ${fewUpdates} versions`, 10, () => {
  for (let round = 0; round < 10; round += 1) {
    mix(finish(index.changes(everything, revision(quiet + 1), revision(newest), unhurried)).length);
  }
});

time('append, update', rounds, () => {
  for (let round = 0; round < rounds; round += 1) mix(index.append(asked[round % asked.length]!, next()));
});
const tenth = Math.floor(rounds / 10);
time('append, then undo', tenth, () => {
  for (let round = 0; round < tenth; round += 1) {
    index.undo(index.append(asked[round % asked.length]!, next()));
    newest -= 1;
  }
});
const deletes = Math.floor(keyCount / 10);
time('append, tombstone', deletes, () => {
  for (let at = 0; at < deletes; at += 1) mix(index.append(shuffled[at]!, next(true)));
});

const held = index.versions;
next();
let worstNs = 0;
const compactNs = cpuNs();
for (let done = false; !done; ) {
  const dropped: LogPosition[] = [];
  const startNs = cpuNs();
  done = index.compact(revision(newest), 1_000, dropped);
  worstNs = Math.max(worstNs, cpuNs() - startNs);
}
const dropNs = cpuNs() - compactNs;
report(
  'compact, for each version dropped',
  held - index.versions,
  dropNs,
  `longest of 1000 candidates ${worstNs / 1e3} us`,
);
mix(index.versions);

time('walk, for each key', index.liveKeys, () => {
  let from: Uint8Array | undefined = new Uint8Array(0);
  while (from !== undefined) from = index.walk(from, 1_000, (key, head) => void mix(key.length + head));
});
const sorted = keys.toSorted(Buffer.compare).map((key) => key.slice());
const loadNs = cpuNs();
const loader = KeyIndex.loader();
for (const key of sorted) loader.add(key, next());
const loaded = loader.finish();
const loadedNs = cpuNs() - loadNs;
report('load, for each key', keyCount, loadedNs, `${Math.round(keyCount / (loadedNs / 1e9))} keys/s`);
mix(loaded.liveKeys);
const loadedEach = loaded.memoryBytes / loaded.liveKeys - keyBytes;
console.log(`${'memory for each loaded key besides its bytes'.padEnd(44)} ${loadedEach.toFixed(1).padStart(10)} bytes`);
console.log(`hash ${(hash >>> 0).toString(16)}`);

/**
 * What the index costs on Kubernetes-shaped keys. SMOKE=1 runs it tiny; KEYS=n sets the number of keys (1M).
 *   node packages/index/bench/index.bench.ts
 */
import { logPosition, NO_LEASE, prefixRange, revision, utf8 } from '@engram/core';
import { KeyIndex, type VersionMeta, type VersionSlot } from '@engram/index';

const smoke = process.env['SMOKE'] !== undefined;
const keyCount = Number(process.env['KEYS'] ?? (smoke ? 2_000 : 1_000_000));
const NAMESPACES = Math.max(1, Math.round(keyCount / 10_000));
const rounds = smoke ? 1_000 : 1_000_000;

// The hash covers every answer, so that nobody optimises the work away.
let hash = 0;
const mix = (value: number): void => {
  hash = (Math.imul(hash, 31) + value) | 0;
};

let state = 0x2545f491;
/** Xorshift: cheap, and the same in every run. */
function random(below: number): number {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % below;
}

function report(name: string, operations: number, ns: bigint, extra = ''): void {
  const each = Number(ns) / operations;
  const shown = each >= 1_000 ? `${(each / 1_000).toFixed(2)} us` : `${each.toFixed(0)} ns`;
  console.log(`${name.padEnd(44)} ${shown.padStart(10)}  ${extra}`);
}

function time(name: string, operations: number, run: () => void): void {
  const startNs = process.hrtime.bigint();
  run();
  report(name, operations, process.hrtime.bigint() - startNs);
}

/** One object for all versions: the index copies what it is given. */
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
const keyBytes = keys.reduce((sum, key) => sum + key.length, 0) / keyCount;
console.log(`${keyCount} keys of ${keyBytes.toFixed(1)} bytes, node ${process.version}`);

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
  for (let round = 0; round < rounds; round += 1) mix(index.head(shuffled[random(keyCount)]!));
});
time('head, no such key', rounds, () => {
  const absent = shuffled.slice(0, 1_000).map((key) => Uint8Array.from([...key, 0]));
  for (let round = 0; round < rounds; round += 1) mix(index.head(absent[random(absent.length)]!));
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
      const from = { key: shuffled[random(keyCount)]!, end: everything.end };
      mix(index.collect(from, revision(at), 500, page).length + page[0]!);
    }
  });
  time(`count 10k of a namespace, ${when}`, pages, () => {
    for (let round = 0; round < pages; round += 1) {
      mix(index.count(namespaces[random(NAMESPACES)]!, revision(at)));
    }
  });
  time(`count all, ${when}`, pages, () => {
    for (let round = 0; round < pages; round += 1) mix(index.count(everything, revision(at)));
  });
}
reads('latest', quiet);
const fewUpdates = Math.min(1_000, rounds);
for (let round = 0; round < fewUpdates; round += 1) mix(index.append(shuffled[random(keyCount)]!, next()));
reads(`${fewUpdates} keys newer`, quiet);
time(`changes of all, ${fewUpdates} versions`, 10, () => {
  for (let round = 0; round < 10; round += 1) {
    mix(index.changes(everything, revision(quiet + 1), revision(newest)).length);
  }
});

time('append, update', rounds, () => {
  for (let round = 0; round < rounds; round += 1) mix(index.append(shuffled[random(keyCount)]!, next()));
});
const tenth = Math.floor(rounds / 10);
time('append, then undo', tenth, () => {
  for (let round = 0; round < tenth; round += 1) {
    index.undo(index.append(shuffled[random(keyCount)]!, next()));
    newest -= 1;
  }
});
const deletes = Math.floor(keyCount / 10);
time('append, tombstone', deletes, () => {
  for (let at = 0; at < deletes; at += 1) mix(index.append(shuffled[at]!, next(true)));
});

const held = index.versions;
next();
const dropped: number[] = [];
const positions = dropped as Parameters<KeyIndex['compact']>[2];
let worstNs = 0n;
const compactNs = process.hrtime.bigint();
for (let done = false; !done; ) {
  const startNs = process.hrtime.bigint();
  done = index.compact(revision(newest), 1_000, positions);
  const ns = process.hrtime.bigint() - startNs;
  if (ns > worstNs) worstNs = ns;
}
const dropNs = process.hrtime.bigint() - compactNs;
report('compact, for each version dropped', held - index.versions, dropNs, `worst call ${Number(worstNs) / 1e3} us`);
mix(dropped.length);

time('walk, for each key', index.liveKeys, () => {
  let from: Uint8Array | undefined = new Uint8Array(0);
  while (from !== undefined) from = index.walk(from, 1_000, (key, head) => mix(key.length + head));
});
const sorted = keys.toSorted(Buffer.compare);
const loadNs = process.hrtime.bigint();
const loader = KeyIndex.loader();
for (const key of sorted) loader.add(key, next());
const loaded = loader.finish();
const loadedNs = process.hrtime.bigint() - loadNs;
report('load, for each key', keyCount, loadedNs, `${Math.round(keyCount / (Number(loadedNs) / 1e9))} keys/s`);
mix(loaded.liveKeys);
const loadedEach = loaded.memoryBytes / loaded.liveKeys - keyBytes;
console.log(`${'memory for each loaded key besides its bytes'.padEnd(44)} ${loadedEach.toFixed(1).padStart(10)} bytes`);
console.log(`hash ${(hash >>> 0).toString(16)}`);

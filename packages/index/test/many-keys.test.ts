import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type VersionMeta, keyText, type LogPosition, prefixRange, revision, utf8 } from '@engram/core';
import { finish, unhurried } from '@engram/loop';
import { KeyIndex, NO_VERSION } from '@engram/index';
import { Prng } from '@engram/sim';
import { expect, test } from 'vitest';
import { collect, countLive } from './collect.ts';
import { put, reload, tombstone } from './metas.ts';

const FOREVER = Number.POSITIVE_INFINITY;
const ALL = { key: new Uint8Array(0), end: Uint8Array.of(0) };

const pod = (at: number): Uint8Array => utf8(`/registry/pods/ns-${at % 13}/pod-${String(at).padStart(6, '0')}`);

const orders = ['ascending', 'descending', 'shuffled'] as const;
test.each([4, 6, 16, 64].flatMap((nodeRows) => orders.map((order) => ({ nodeRows, order }))))(
  '$order keys come and go, $nodeRows rows a node',
  ({ nodeRows, order }) => {
    const prng = new Prng(nodeRows + 7);
    const count = 3_000;
    const ascending = Array.from({ length: count }, (_, at) => utf8(`key-${String(at).padStart(5, '0')}`));
    const keys = order === 'shuffled' ? prng.shuffled(ascending) : ascending;
    if (order === 'descending') keys.reverse();

    const index = new KeyIndex({ nodeRows });
    let mod = 1;
    for (const [at, key] of keys.entries()) {
      mod += 1;
      index.append(key, put(mod));
      if (at % 500 === 0) index.verify();
    }
    index.verify();
    expect(index.liveKeys).toBe(count);
    expect(collect(index, ALL, revision(mod), FOREVER).map((slot) => keyText(index.key(slot)))).toEqual(
      ascending.toSorted(Buffer.compare).map(keyText),
    );

    // The keys are removed one by one in another order. The tree stays consistent until it is empty.
    const leaving = prng.shuffled(keys);
    const kept = new Set(leaving.map(keyText));
    for (const [at, key] of leaving.entries()) {
      mod += 1;
      index.append(key, tombstone(mod));
      kept.delete(keyText(key));
      index.compact(revision(mod + 1), 5, []);
      mod += 1;
      if (at % 300 !== 0) continue;
      index.verify();
      expect(countLive(index, ALL, revision(mod))).toBe(kept.size);
      expect(index.head(key)).toBe(NO_VERSION);
    }
    index.verify();
    expect(index.versions).toBe(0);
  },
);

test('counts at any revision are exact, and add up', () => {
  const prng = new Prng(99);
  const index = new KeyIndex({ nodeRows: 8 });
  const live = new Map<string, boolean>();
  const history: { mod: number; total: number; inNamespace: number }[] = [];
  const namespace = prefixRange(utf8('/registry/pods/ns-7/'));
  let inNamespace = 0;
  let total = 0;
  for (let mod = 2; mod < 6_000; mod += 1) {
    const at = prng.below(1_500);
    const key = pod(at);
    const was = live.get(keyText(key)) === true;
    const is = !was || prng.below(3) > 0;
    index.append(key, is ? put(mod) : tombstone(mod));
    live.set(keyText(key), is);
    const change = (is ? 1 : 0) - (was ? 1 : 0);
    total += change;
    if (at % 13 === 7) inNamespace += change;
    if (mod % 97 === 0) history.push({ mod, total, inNamespace });
  }
  for (const { mod, total: counted, inNamespace: counted7 } of history) {
    expect(countLive(index, ALL, revision(mod))).toBe(counted);
    expect(countLive(index, namespace, revision(mod))).toBe(counted7);
    expect(collect(index, namespace, revision(mod), FOREVER)).toHaveLength(counted7);
  }
});

test('memory does not grow when keys come and go for ever', () => {
  const index = new KeyIndex();
  const prng = new Prng(5);
  let mod = 1;
  let afterFirst = 0;
  for (let round = 0; round < 30; round += 1) {
    // Every round has its own names and lengths.
    const keys = Array.from({ length: 3_000 }, (_, at) =>
      utf8(`/registry/events/round-${round}/${'n'.repeat((round * 7) % 90)}-${at}-${prng.below(1e9)}`),
    );
    for (const key of keys) {
      mod += 1;
      index.append(key, put(mod));
    }
    for (const key of keys) {
      mod += 1;
      index.append(key, put(mod));
    }
    for (const key of keys) {
      mod += 1;
      index.append(key, tombstone(mod));
    }
    mod += 1;
    const dropped: LogPosition[] = [];
    while (!index.compact(revision(mod), 500, dropped));
    expect(dropped).toHaveLength(9_000);
    expect([index.versions, index.liveKeys, index.liveBytes]).toEqual([0, 0, 0]);
    if (round === 0) afterFirst = index.memoryBytes;
  }
  // The memory grows by no more than the spare pages.
  expect(index.memoryBytes).toBeLessThan(afterFirst + 20 * 131_072);
});

test('separators are freed with their nodes', () => {
  // Keys so long that a leaked separator would show.
  const index = new KeyIndex({ nodeRows: 4 });
  const keys = Array.from({ length: 40 }, (_, at) => utf8(`${'long '.repeat(3_200)}${String(at).padStart(3, '0')}`));
  let mod = 1;
  let afterFirst = 0;
  for (let round = 0; round < 20; round += 1) {
    for (const key of keys) index.append(key, put(++mod));
    for (const key of new Prng(round + 1).shuffled(keys)) index.append(key, tombstone(++mod));
    index.compact(revision(++mod), FOREVER, []);
    expect(index.versions).toBe(0);
    if (round === 0) afterFirst = index.memoryBytes;
  }
  expect(index.memoryBytes).toBeLessThanOrEqual(afterFirst + 2 * 131_072);
});

test('changes come in the order in which they were made, however many', () => {
  const index = new KeyIndex();
  const prng = new Prng(17);
  const made: string[] = [];
  // Revisions far apart, so that the radix sort needs several digits.
  for (let mod = 2; mod < 40_000_000; mod += 1 + prng.below(4_000_000)) {
    const keys = prng.shuffled(Array.from({ length: 40 }, (_, at) => pod(at)));
    for (const [sub, key] of keys.entries()) {
      index.append(key, put(mod, { sub }));
      made.push(`${mod}/${sub}`);
    }
  }
  expect(made.length).toBeGreaterThan(500);
  const changes = finish(index.changes(ALL, revision(0), revision(40_000_000), unhurried));
  expect(changes.map((slot) => `${index.modRevision(slot)}/${index.sub(slot)}`)).toEqual(made);
});

test('a batch that is refused leaves no trace', () => {
  const index = new KeyIndex({ nodeRows: 4 });
  for (let at = 0; at < 200; at += 1) index.append(pod(at), put(at + 2));
  const before = { versions: index.versions, bytes: index.liveBytes, keys: index.liveKeys };
  for (let round = 0; round < 5; round += 1) {
    const slots: number[] = [];
    for (let at = 100; at < 400; at += 1) {
      slots.push(index.append(pod(at), at % 3 === 0 ? tombstone(1_000 + at) : put(1_000 + at)));
    }
    for (const slot of slots.reverse()) index.undo(slot);
    index.verify();
    expect({ versions: index.versions, bytes: index.liveBytes, keys: index.liveKeys }).toEqual(before);
  }
  // No garbage is left of the undone versions.
  expect(index.compact(revision(201), 1, [])).toBe(true);
  expect(index.versions).toBe(200);
});

test('a tombstone below a pending version may be compacted away, and the pending version undone', () => {
  const index = new KeyIndex();
  const key = utf8('key');
  index.append(key, put(2));
  index.append(key, tombstone(3));
  const pending = index.append(key, put(9));
  const dropped: LogPosition[] = [];
  expect(index.compact(revision(5), FOREVER, dropped)).toBe(true);
  expect(dropped).toHaveLength(2);
  index.undo(pending);
  index.verify();
  expect(index.head(key)).toBe(NO_VERSION);
  expect(index.versions).toBe(0);
});

test('what is loaded answers as what was appended, and goes on like it', () => {
  const prng = new Prng(31);
  for (const nodeRows of [4, 8, 64]) {
    const index = new KeyIndex({ nodeRows });
    const live = new Set<string>();
    let mod = 1;
    const change = (target: KeyIndex, key: Uint8Array, meta: VersionMeta): void => {
      target.append(key, meta);
    };
    for (let step = 0; step < 4_000; step += 1) {
      const key = pod(prng.below(900));
      mod += 1;
      const isDelete = live.has(keyText(key)) && prng.below(3) === 0;
      change(index, key, isDelete ? tombstone(mod) : put(mod));
      if (isDelete) live.delete(keyText(key));
      else live.add(keyText(key));
    }
    index.compact(revision(mod - 2_000), FOREVER, []);

    const loader = KeyIndex.loader({ nodeRows });
    reload(index, loader);
    const loaded = loader.finish();
    loaded.verify();
    for (let step = 0; step < 500; step += 1) {
      const key = pod(prng.below(1_200));
      mod += 1;
      for (const target of [index, loaded]) change(target, key, put(mod));
    }
    loaded.verify();
    for (const compacted of [mod - 1_500, mod - 900, mod]) {
      const dropped: [LogPosition[], LogPosition[]] = [[], []];
      index.compact(revision(compacted), FOREVER, dropped[0]);
      while (!loaded.compact(revision(compacted), 50, dropped[1]));
      for (const list of dropped) list.sort((left, right) => left - right);
      expect(dropped[1]).toEqual(dropped[0]);
      const positions = (of: KeyIndex) =>
        finish(of.changes(ALL, revision(compacted), revision(mod), unhurried)).map((slot) => of.position(slot));
      expect(positions(loaded)).toEqual(positions(index));
      expect([loaded.versions, loaded.liveBytes, loaded.liveKeys]).toEqual([
        index.versions,
        index.liveBytes,
        index.liveKeys,
      ]);
    }
    loaded.verify();
  }
});

test('the benchmark runs', () => {
  const bench = fileURLToPath(new URL('../bench/index.bench.ts', import.meta.url));
  const printed = execFileSync(process.execPath, [bench], { env: { ...process.env, SMOKE: '1' }, encoding: 'utf8' });
  expect(printed).toMatch(/^hash [0-9a-f]+$/m);
});

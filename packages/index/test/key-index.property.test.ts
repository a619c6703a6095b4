import {
  type VersionMeta,
  isPoint,
  type KeyRange,
  keyText,
  type LogPosition,
  leaseId,
  logPosition,
  NO_LEASE,
  revision,
} from '@engram/core';
import { finish, StepPace } from '@engram/loop';
import { KeyIndex, NO_VERSION, type VersionSlot } from '@engram/index';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collect, countLive } from './collect.ts';
import { chainOf, metaOf, put, reload, tombstone } from './metas.ts';
import { ModelIndex } from './model.ts';

type Op =
  | { readonly kind: 'txn'; readonly keys: readonly Uint8Array[]; readonly deletes: number; readonly leased: boolean }
  | { readonly kind: 'commit' }
  | { readonly kind: 'refuse' }
  | { readonly kind: 'compact'; readonly share: number; readonly budget: number }
  | { readonly kind: 'go on'; readonly budget: number }
  | { readonly kind: 'reload' }
  | { readonly kind: 'read'; readonly range: KeyRange; readonly share: number; readonly max: number };

const ALL: KeyRange = { key: new Uint8Array(0), end: Uint8Array.of(0) };
const ZERO = Uint8Array.of(0);

// Few different bytes, so that keys are equal, are prefixes of each other, and end in zeros. Both ends of the byte
// range occur.
const tail = fc.array(fc.constantFrom(0x00, 0x01, 0x61, 0x62, 0xfe, 0xff), { minLength: 1, maxLength: 5 });
const prefix = fc.constantFrom('', '', '/registry/pods/', '/registry/pods/default/', 'x'.repeat(700));
const keyArbitrary = fc.tuple(prefix, tail).map(([head, bytes]) => Uint8Array.from([...Buffer.from(head), ...bytes]));
const endArbitrary = fc.oneof(
  { weight: 1, arbitrary: fc.constant(new Uint8Array(0)) },
  { weight: 2, arbitrary: fc.constant(ZERO) },
  { weight: 4, arbitrary: keyArbitrary },
);
const rangeArbitrary = fc.record({ key: keyArbitrary, end: endArbitrary });
const shareArbitrary = fc.integer({ min: 0, max: 8 });
const opArbitrary: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('txn' as const),
      keys: fc.uniqueArray(keyArbitrary, { minLength: 1, maxLength: 6, selector: keyText }),
      deletes: fc.integer({ min: 0, max: 63 }),
      leased: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'commit' as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'refuse' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('compact' as const),
      share: shareArbitrary,
      budget: fc.integer({ min: 1, max: 20 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('go on' as const), budget: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'reload' as const }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      range: rangeArbitrary,
      share: shareArbitrary,
      max: fc.integer({ min: 0, max: 8 }),
    }),
  },
);

/** Index and model side by side. */
class Pair {
  index: KeyIndex;
  readonly model = new ModelIndex();
  readonly #nodeRows: number;
  #newest = 1;
  #committed = 1;
  #compacted = -1;
  #compacting = false;
  #dropped: LogPosition[] = [];
  #pending: { key: Uint8Array; slot: VersionSlot; mod: number }[] = [];

  constructor(nodeRows: number) {
    this.#nodeRows = nodeRows;
    this.index = new KeyIndex({ nodeRows });
  }

  run(op: Op): void {
    if (op.kind === 'txn') this.#txn(op.keys, op.deletes, op.leased);
    else if (op.kind === 'refuse') this.#refuse();
    else if (op.kind === 'compact') this.#startCompaction(this.#revisionAt(op.share), op.budget);
    else if (op.kind === 'go on') this.#compact(op.budget);
    else if (op.kind === 'reload') this.#reload();
    else if (op.kind === 'read') this.#read(op.range, this.#revisionAt(op.share), op.max);
    else {
      this.#committed = this.#newest;
      this.#pending = [];
    }
    this.index.verify();
  }

  finish(): void {
    while (this.#compacting) this.#compact(7);
    this.#compareAll();
  }

  /** A revision between the last compaction (share 0) and the newest revision, pending or not (share 8). */
  #revisionAt(share: number): number {
    const lowest = Math.max(this.#compacted, 0);
    return lowest + Math.round(((this.#newest - lowest) * share) / 8);
  }

  #txn(keys: readonly Uint8Array[], deletes: number, leased: boolean): void {
    const mod = this.#newest + 1;
    for (const [sub, key] of keys.entries()) {
      const before = this.model.liveAt(key, mod);
      let meta: VersionMeta;
      if (((deletes >> sub) & 1) === 1) {
        // Every second missing key is deleted too, because a replayed log may do that.
        if (before === undefined && mod % 2 === 0) continue;
        meta = tombstone(mod, sub);
      } else {
        const lease = leased ? leaseId(BigInt.asIntN(64, 0x9e3779b97f4a7c15n * BigInt(mod))) : NO_LEASE;
        const version = (before?.version ?? 0) + 1;
        meta = put(mod, { sub, version, create: before?.createRevision ?? mod, lease });
      }
      this.#pending.push({ key, slot: this.index.append(key, meta), mod });
      this.model.append(key, meta);
      this.#newest = mod;
    }
  }

  /** Undoes the newest revision if it is not committed. */
  #refuse(): void {
    const mod = this.#newest;
    for (let last = this.#pending.at(-1); last?.mod === mod; last = this.#pending.at(-1)) {
      this.index.undo(last.slot);
      this.model.undo(last.key);
      this.#pending.pop();
    }
    if (mod > this.#committed) this.#newest = mod - 1;
  }

  #startCompaction(wanted: number, budget: number): void {
    if (this.#compacting) this.#compact(budget);
    this.#compacted = Math.max(this.#compacted, Math.min(wanted, this.#committed));
    this.#compacting = true;
    this.#compact(budget);
  }

  #compact(budget: number): void {
    if (!this.#compacting) return;
    const before = this.#dropped.length;
    this.#compacting = !this.index.compact(revision(this.#compacted), budget, this.#dropped);
    expect(this.#dropped.length - before).toBeLessThanOrEqual(budget);
    if (this.#compacting) return;
    const positions = (list: readonly LogPosition[]) => list.toSorted((left, right) => left - right);
    expect(positions(this.#dropped)).toEqual(positions(this.model.compact(this.#compacted)));
    this.#dropped = [];
    this.#compareAll();
  }

  #reload(): void {
    if (this.#pending.length > 0 || this.#compacting) return;
    const loader = KeyIndex.loader({ nodeRows: this.#nodeRows });
    reload(this.index, loader);
    this.index = loader.finish();
    this.#compareAll();
  }

  #compareAll(): void {
    const walked: [string, VersionMeta[]][] = [];
    let next: Uint8Array | undefined = new Uint8Array(0);
    while (next !== undefined) {
      next = this.index.walk(next, 3, (key, head) => {
        expect(keyText(this.index.key(head))).toBe(keyText(key));
        walked.push([keyText(key), chainOf(this.index, head)]);
      });
    }
    const surveyed: [string, VersionMeta[]][] = [];
    for (let from: Uint8Array | undefined = new Uint8Array(0); from !== undefined; ) {
      from = this.index.survey(from, 3, (page, start, end, head) => {
        surveyed.push([keyText(page.subarray(start, end)), chainOf(this.index, head)]);
      });
    }
    expect(surveyed).toEqual(walked);
    const keys = this.model.keys(ALL).map(keyText);
    expect(walked).toEqual(keys.map((key) => [key, this.model.chains.get(key)]));
    const all = this.model.all();
    expect(this.index.versions).toBe(all.length);
    expect(this.index.liveBytes).toBe(all.reduce((sum, meta) => sum + meta.bytes, 0));
    expect(this.index.liveKeys).toBe(this.model.collect(ALL, this.#newest).length);
  }

  #read(range: KeyRange, at: number, max: number): void {
    const { index, model } = this;
    const live = model.collect(range, at);
    expect(countLive(index, range, revision(at))).toBe(live.length);
    expect(collect(index, range, revision(at), max).map((slot) => metaOf(index, slot))).toEqual(live.slice(0, max));
    const given: VersionSlot[] = [4711];
    expect(collect(index, range, revision(at), Number.POSITIVE_INFINITY, given)).toBe(given);
    expect(given.slice(1).map((slot) => metaOf(index, slot))).toEqual(live);
    this.#readSliced(range, at, Math.max(1, max), live);

    const found = index.at(range.key, revision(at));
    const foundLive = found === NO_VERSION || index.isTombstone(found) ? undefined : metaOf(index, found);
    expect(foundLive).toEqual(model.liveAt(range.key, at));
    // An unfinished compaction may or may not have dropped a version at or below its revision.
    if (!this.#compacting) expect(metaOf(index, found)).toEqual(model.at(range.key, at));
    const from = this.#compacting ? this.#compacted + 1 : at - 2;
    const to = at + max - 2;
    for (const steps of [0, 1000]) {
      const changes = finish(index.changes(range, revision(from), revision(to), new StepPace(steps)));
      expect(changes.map((slot) => metaOf(index, slot))).toEqual(model.changes(range, from, to));
    }
  }

  /** Reads leaf by leaf and a few versions at a time. No version may be lost or repeated between two slices. */
  #readSliced(range: KeyRange, at: number, max: number, live: readonly VersionMeta[]): void {
    const { index } = this;
    let counted = 0;
    for (let key: Uint8Array | undefined = range.key; key !== undefined; ) {
      const slice = index.countSome({ key, end: range.end }, revision(at), new StepPace(0));
      counted += slice.live;
      key = slice.next;
    }
    expect(counted).toBe(live.length);
    const collected: VersionSlot[] = [];
    for (let key: Uint8Array | undefined = range.key; key !== undefined; ) {
      const before = collected.length;
      key = index.collectSome({ key, end: range.end }, revision(at), max, new StepPace(0), collected);
      expect(collected.length - before).toBeLessThanOrEqual(max);
      if (isPoint(range)) expect(key).toBeUndefined();
    }
    expect(collected.map((slot) => metaOf(index, slot))).toEqual(live);
    const positions = [logPosition(4711)];
    expect(index.places(collected, positions, 1)).toBe(live.reduce((sum, { bytes }) => sum + bytes, 0));
    expect(positions).toEqual([4711, ...live.map(({ position }) => position)]);
  }
}

test.each([4, 6, 8, 64])('does what a map of version lists does, with %i rows a node', (nodeRows) => {
  fc.assert(
    fc.property(fc.array(opArbitrary, { maxLength: 120, size: 'max' }), (ops) => {
      const pair = new Pair(nodeRows);
      for (const op of ops) pair.run(op);
      pair.finish();
    }),
    { numRuns: 120 },
  );
});

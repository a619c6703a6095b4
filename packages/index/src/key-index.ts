import {
  type VersionMeta,
  assert,
  EMPTY_BYTES,
  isPoint,
  type KeyRange,
  type LeaseId,
  type LogPosition,
  NO_REVISION,
  type Revision,
} from '@engram/core';
import type { PureJob, Turn } from '@engram/loop';
import { GarbageQueue } from './garbage-queue.ts';
import { IndexLoader } from './index-loader.ts';
import { KeySlabs } from './key-slabs.ts';
import { KeyTree } from './key-tree.ts';
import { scanRange } from './range-scan.ts';
import { ChangesVisitor, CollectVisitor, CountVisitor, type KeyVisit, WalkVisitor } from './range-visitors.ts';
import { type HeadVisit, SurveyVisitor } from './survey-visitor.ts';
import { sortByRevision } from './sort-by-revision.ts';
import { verifyTree } from './tree-check.ts';
import { headOf, slotOf, TreeNodes } from './tree-nodes.ts';
import { NO_VERSION, type VersionSlot } from './version-slot.ts';
import { VersionTable } from './version-table.ts';

export interface KeyIndexOptions {
  /** Rows of a tree node, even and at least 4. Tests use few rows to get many nodes. */
  readonly nodeRows?: number;
  /** Pages for the bytes of keys. Tests use few pages to run out of them. */
  readonly keyPagesMax?: number;
}

/** The result of counting one slice. */
export interface CountedSlice {
  readonly live: number;
  /** Where the count continues; undefined when it is complete. */
  readonly next: Uint8Array | undefined;
}

const NODE_ROWS = 64;
const FROM_HERE_ON = Uint8Array.of(0);
const PAGES_OF_KEY_MAX = 2;

/**
 * The MVCC index: an ordered map from key to its versions, newest first. It answers for any revision that is not
 * compacted, even if newer versions exist: writers append before their batch is durable, and readers read at the
 * committed revision. No method waits. The callback of a `walk` must not change the index.
 *
 * Keys, versions and tree nodes are in pages outside the JavaScript heap. A key with one version takes about 95 bytes
 * and the key's length; each further version takes 60 bytes. Freed memory is reused; only empty pages of keys are
 * released.
 */
export class KeyIndex {
  readonly #keys: KeySlabs;
  readonly #versions: VersionTable;
  readonly #nodes: TreeNodes;
  readonly #tree: KeyTree;
  readonly #garbage: GarbageQueue;
  #compacted: Revision = NO_REVISION;

  constructor(options: KeyIndexOptions = {}) {
    this.#keys = new KeySlabs(options.keyPagesMax);
    this.#versions = new VersionTable();
    this.#nodes = new TreeNodes(options.nodeRows ?? NODE_ROWS, this.#keys);
    this.#tree = new KeyTree(this.#nodes);
    this.#garbage = new GarbageQueue(this.#versions);
  }

  /** Builds an index from versions in key order, much faster than with `append`. For checkpoints. */
  static loader(options: KeyIndexOptions = {}): IndexLoader<KeyIndex> {
    const index = new KeyIndex(options);
    return new IndexLoader(index, index.#nodes, index.#tree, index.#versions, index.#garbage);
  }

  /** Keys whose newest version, durable or not, is a put. */
  get liveKeys(): number {
    return this.#tree.live;
  }

  /** All versions, tombstones included. */
  get versions(): number {
    return this.#versions.held;
  }

  /** The sum of `bytes` of all versions. */
  get liveBytes(): number {
    return this.#versions.bytesHeld;
  }

  /** Bytes of memory taken from the system, in use or free. */
  get memoryBytes(): number {
    return this.#keys.memoryBytes + this.#versions.memoryBytes + this.#nodes.memoryBytes + this.#garbage.memoryBytes;
  }

  /**
   * Whether `newKeys` keys can be added. Must be checked before `append`. A key may need a page of its own, and another
   * page for the separator key if its node is split.
   */
  hasRoomFor(newKeys: number): boolean {
    return this.#keys.pagesLeft >= PAGES_OF_KEY_MAX * newKeys;
  }

  /** The newest version of the key, tombstones included; NO_VERSION if it has none. */
  head(key: Uint8Array): VersionSlot {
    // A caller of `head` usually writes the key next. `seek` keeps the place for that `append`.
    return this.#tree.seek(key) ? slotOf(this.#tree.head()) : NO_VERSION;
  }

  /** The newest version of the key with modRevision <= revision, tombstones included; NO_VERSION if it has none. */
  at(key: Uint8Array, revision: Revision): VersionSlot {
    return this.#versions.at(this.#tree.find(key), revision);
  }

  modRevision(slot: VersionSlot): Revision {
    return this.#versions.mod(slot);
  }

  createRevision(slot: VersionSlot): Revision {
    return this.#versions.create(slot);
  }

  version(slot: VersionSlot): number {
    return this.#versions.version(slot);
  }

  lease(slot: VersionSlot): LeaseId {
    return this.#versions.lease(slot);
  }

  hasLease(slot: VersionSlot): boolean {
    return this.#versions.hasLease(slot);
  }

  sub(slot: VersionSlot): number {
    return this.#versions.sub(slot);
  }

  position(slot: VersionSlot): LogPosition {
    return this.#versions.position(slot);
  }

  bytes(slot: VersionSlot): number {
    return this.#versions.bytes(slot);
  }

  /** Writes the positions of these versions to `into`, from index `from` on. Returns the sum of their `bytes`. */
  places(slots: readonly VersionSlot[], into: LogPosition[], from: number): number {
    return this.#versions.places(slots, into, from);
  }

  /** Like `places`, with the `bytes` of each version in `lengths`. */
  placesOf(slots: readonly VersionSlot[], positions: Float64Array, lengths: Uint32Array, from: number): number {
    return this.#versions.placesOf(slots, positions, lengths, from);
  }

  isTombstone(slot: VersionSlot): boolean {
    return this.#versions.isTombstone(slot);
  }

  /** The version that this one superseded, tombstones included; NO_VERSION if there was none or if it is compacted. */
  previous(slot: VersionSlot): VersionSlot {
    return this.#versions.previous(slot);
  }

  /** A copy, owned by the caller. */
  key(slot: VersionSlot): Uint8Array {
    return this.#keys.copy(this.#versions.key(slot));
  }

  /**
   * Adds a version above the key's head. Copies `key`; does not keep `meta`. Revisions of successive calls must not
   * decrease, and a key must change at most once in a revision. A new key must have room (`hasRoomFor`).
   */
  append(key: Uint8Array, meta: VersionMeta): VersionSlot {
    const tree = this.#tree;
    if (tree.seek(key)) {
      // This reads the tree only, because the row of the previous version is probably in no cache.
      const head = tree.head();
      assert(meta.modRevision > tree.headNewest(), 'a version not above its key’s head');
      const slot = this.#versions.add(tree.key(), slotOf(head), meta);
      if (head < 0) this.#versions.setNext(slotOf(head), slot);
      tree.setHead(headOf(slot, meta.tombstone), meta.modRevision);
      this.#garbage.add(slot, head >= 0, meta.tombstone);
      return slot;
    }
    const ref = this.#keys.add(key);
    const slot = this.#versions.add(ref, NO_VERSION, meta);
    tree.insert(key, ref, headOf(slot, meta.tombstone), meta.modRevision);
    this.#garbage.add(slot, false, meta.tombstone);
    return slot;
  }

  /**
   * Removes a version whose batch was refused. It must be its key's head and above every compaction. Versions must be
   * undone in the reverse order of `append`. The index is then as it was before, except for versions that were
   * compacted meanwhile.
   */
  undo(slot: VersionSlot): void {
    const versions = this.#versions;
    assert(versions.mod(slot) > this.#compacted, 'undone below a compaction');
    const ref = versions.key(slot);
    const found = this.#tree.seek(this.#keys.view(ref));
    assert(found && slotOf(this.#tree.head()) === slot, 'undone but not its key’s head');
    const previous = versions.previous(slot);
    this.#garbage.undo(slot, this.#isLive(previous), versions.isTombstone(slot));
    if (previous === NO_VERSION) {
      this.#tree.removeUndone();
      this.#keys.free(ref);
    } else {
      const tombstone = versions.isTombstone(previous);
      if (tombstone) versions.setNext(previous, NO_VERSION);
      this.#tree.restoreHead(headOf(previous, tombstone), versions.mod(previous));
    }
    versions.drop(slot);
  }

  /**
   * The number of keys that live at a revision, for as much of the range as `turn` allows; at least one leaf of the tree. The whole
   * range costs O(log n) and the number of changes after the revision.
   */
  countSome(range: KeyRange, at: Revision, turn: Turn): CountedSlice {
    if (isPoint(range)) return { live: this.#isLive(this.at(range.key, at)) ? 1 : 0, next: undefined };
    const visitor = new CountVisitor(this.#nodes, this.#versions, at, turn);
    scanRange(this.#nodes, this.#tree, range, visitor);
    return { live: visitor.live, next: visitor.next };
  }

  /**
   * Adds the versions of a range that live at a revision to `into`, in key order, at most `max`, for as much of the range as `turn`
   * allows; at least one leaf of the tree. Returns the key at which to continue, also when `max` is reached, or undefined at the end
   * of the range.
   */
  collectSome(range: KeyRange, at: Revision, max: number, turn: Turn, into: VersionSlot[]): Uint8Array | undefined {
    assert(max > 0, 'a slice of no versions');
    if (isPoint(range)) {
      const slot = this.at(range.key, at);
      if (this.#isLive(slot)) into.push(slot);
      return undefined;
    }
    const visitor = new CollectVisitor(this.#nodes, this.#versions, at, max, into, turn);
    scanRange(this.#nodes, this.#tree, range, visitor);
    return visitor.next;
  }

  /**
   * All versions of a range with from <= modRevision <= to, tombstones included, in the order of (modRevision, sub).
   * Cheap if little has changed since `from`. Between two slices no version of the result may be dropped or undone.
   */
  *changes(range: KeyRange, from: Revision, to: Revision, turn: Turn): PureJob<VersionSlot[]> {
    const found: VersionSlot[] = [];
    if (isPoint(range))
      new ChangesVisitor(this.#nodes, this.#versions, from, to, found, turn).chain(this.head(range.key));
    else {
      for (let key: Uint8Array | undefined = range.key; key !== undefined; ) {
        const visitor = new ChangesVisitor(this.#nodes, this.#versions, from, to, found, turn);
        scanRange(this.#nodes, this.#tree, { key, end: range.end }, visitor);
        key = visitor.next;
        if (turn.shouldYield(0)) yield;
      }
    }
    return yield* sortByRevision(found, this.#versions, turn);
  }

  /**
   * Visits at most `keysMax` keys from `fromKey` on in order, also keys that have tombstones only. Returns the key at
   * which to continue, or undefined at the end. The keys are copies. With a turn, the visit also stops when it should yield.
   */
  walk(fromKey: Uint8Array, keysMax: number, visit: KeyVisit, turn?: Turn): Uint8Array | undefined {
    const visitor = new WalkVisitor(this.#nodes, keysMax, visit, turn);
    scanRange(this.#nodes, this.#tree, { key: fromKey, end: FROM_HERE_ON }, visitor);
    return visitor.next;
  }

  /** Like `walk`, without an object for each key. For a scan of an entire index that is larger than the caches. */
  survey(fromKey: Uint8Array, keysMax: number, visit: HeadVisit, turn?: Turn): Uint8Array | undefined {
    const visitor = new SurveyVisitor(this.#nodes, this.#versions, keysMax, visit, turn);
    scanRange(this.#nodes, this.#tree, { key: fromKey, end: FROM_HERE_ON }, visitor);
    return visitor.next;
  }

  /**
   * Drops the versions that etcd's compaction at `revision` drops (etcd server/storage/mvcc/key_index.go). Of the
   * versions at or below `revision` it keeps only each key's newest one, and that only if it is a put or is exactly at
   * `revision`. Visits at most `budget` candidates, with a turn none once it should yield. Adds the positions of dropped
   * versions to `dropped`, and returns true when the compaction is complete. Between calls, reads at `revision` or above are correct. `revision` must not
   * exceed the committed one.
   */
  compact(revision: Revision, budget: number, dropped: LogPosition[], turn?: Turn): boolean {
    assert(budget > 0, 'a compaction without a budget never ends');
    if (revision > this.#compacted) this.#compacted = revision;
    const garbage = this.#garbage;
    let left = budget;
    for (; left > 0; left -= 1) {
      const slot = garbage.nextSuperseder(revision);
      if (slot === NO_VERSION) break;
      this.#unlink(slot, dropped);
      if (turn?.shouldYield() === true) return false;
    }
    for (; left > 0; left -= 1) {
      const tombstone = garbage.nextTombstone(revision);
      if (tombstone === NO_VERSION) return true;
      const next = this.#versions.next(tombstone);
      if (next === NO_VERSION) this.#removeKey(tombstone, dropped);
      else this.#unlink(next, dropped);
      if (turn?.shouldYield() === true) return false;
    }
    return false;
  }

  /**
   * After this call, appended versions may be older than versions of other keys, as in a replay after a checkpoint.
   * They must still be newer than all versions of their own key. No version may be compacted or undone before
   * `endReplay`.
   */
  beginReplay(): void {
    this.#garbage.beginReplay();
  }

  *endReplay(turn: Turn): PureJob<void> {
    yield* this.#garbage.endReplay(turn);
  }

  /** Asserts that tree, versions and garbage are consistent. O(versions). For tests and simulations. */
  verify(): void {
    verifyTree(this.#nodes, this.#tree, this.#versions, this.#compacted);
    let superseders = 0;
    let tombstones = 0;
    this.walk(EMPTY_BYTES, Number.POSITIVE_INFINITY, (_key, head) => {
      for (let slot = head; slot !== NO_VERSION; slot = this.previous(slot)) {
        if (this.isTombstone(slot)) tombstones += 1;
        if (this.#isLive(this.previous(slot))) superseders += 1;
      }
    });
    this.#garbage.verify(superseders, tombstones);
  }

  #isLive(slot: VersionSlot): boolean {
    return slot !== NO_VERSION && !this.#versions.isTombstone(slot);
  }

  /** Drops the version before `next`. */
  #unlink(next: VersionSlot, dropped: LogPosition[]): void {
    const versions = this.#versions;
    const slot = versions.previous(next);
    assert(slot !== NO_VERSION, 'garbage that is gone already');
    const older = versions.previous(slot);
    versions.setPrevious(next, older);
    // Only a tombstone can be older. It is still in the queue of tombstones.
    if (older !== NO_VERSION) versions.setNext(older, next);
    dropped.push(versions.position(slot));
    versions.drop(slot);
  }

  #removeKey(tombstone: VersionSlot, dropped: LogPosition[]): void {
    const versions = this.#versions;
    assert(versions.previous(tombstone) === NO_VERSION, 'a tombstone dropped before what it deleted');
    const ref = versions.key(tombstone);
    const found = this.#tree.seek(this.#keys.view(ref));
    assert(found && slotOf(this.#tree.head()) === tombstone, 'a tombstone that its key does not know');
    this.#tree.remove();
    this.#keys.free(ref);
    dropped.push(versions.position(tombstone));
    versions.drop(tombstone);
  }
}

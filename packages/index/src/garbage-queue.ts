import { assert, type Revision } from '@engram/core';
import type { PureJob, Turn } from '@engram/loop';
import { SlotRing } from './slot-ring.ts';
import { sortByRevision } from './sort-by-revision.ts';
import { NO_VERSION, type VersionSlot } from './version-slot.ts';
import type { VersionTable } from './version-table.ts';

/**
 * The versions that make garbage for compactions, in the order of revisions, so that a compaction visits garbage only:
 *
 * - each version that superseded a put: at its own revision the put is garbage;
 * - each tombstone: above its own revision the tombstone is garbage.
 *
 * Every version but a key's last put leaves through exactly one of the two queues. A compaction empties the first queue
 * up to its revision before it reads the second. So every slot in a queue stays valid.
 */
export class GarbageQueue {
  readonly #versions: VersionTable;
  readonly #superseders = new SlotRing();
  readonly #tombstones = new SlotRing();
  /** Slots added by a replay, in the order of the replay; undefined outside of a replay. */
  #replayed: { readonly superseders: VersionSlot[]; readonly tombstones: VersionSlot[] } | undefined;

  constructor(versions: VersionTable) {
    this.#versions = versions;
  }

  get length(): number {
    return this.#superseders.length + this.#tombstones.length;
  }

  get memoryBytes(): number {
    return this.#superseders.memoryBytes + this.#tombstones.memoryBytes;
  }

  /** Adds an appended version. Outside of a replay its revision must not be below those in the queues. */
  add(slot: VersionSlot, supersedesPut: boolean, tombstone: boolean): void {
    if (this.#replayed === undefined) {
      if (supersedesPut) this.#push(this.#superseders, slot);
      if (tombstone) this.#push(this.#tombstones, slot);
      return;
    }
    if (supersedesPut) this.#replayed.superseders.push(slot);
    if (tombstone) this.#replayed.tombstones.push(slot);
  }

  /**
   * After this call, added versions may be older than those in the queues. A checkpoint is taken during writes, so the
   * replay after it has changes of some keys that are older than the checkpoint's versions of other keys.
   */
  beginReplay(): void {
    assert(this.#replayed === undefined, 'a replay begins in a replay');
    this.#replayed = { superseders: [], tombstones: [] };
  }

  *endReplay(turn: Turn): PureJob<void> {
    const replayed = this.#replayed;
    assert(replayed !== undefined, 'a replay ends that has not begun');
    yield* this.#merge(this.#superseders, replayed.superseders, turn);
    yield* this.#merge(this.#tombstones, replayed.tombstones, turn);
    this.#replayed = undefined;
  }

  *#merge(queue: SlotRing, replayed: VersionSlot[], turn: Turn): PureJob<void> {
    if (replayed.length === 0) return;
    const slots: VersionSlot[] = [];
    while (queue.length > 0) {
      slots.push(queue.first());
      queue.removeFirst();
      if (turn.shouldYield()) yield;
    }
    for (const slot of replayed) slots.push(slot);
    for (const slot of yield* sortByRevision(slots, this.#versions, turn)) {
      this.#push(queue, slot);
      if (turn.shouldYield()) yield;
    }
  }

  #push(queue: SlotRing, slot: VersionSlot): void {
    const last = queue.last();
    assert(
      last === NO_VERSION || this.#versions.mod(last) <= this.#versions.mod(slot),
      'garbage is queued out of the order of revisions',
    );
    queue.push(slot);
  }

  /** Asserts that the queues are in order and have these lengths. For tests and simulations. */
  verify(superseders: number, tombstones: number): void {
    for (const [queue, expected] of [
      [this.#superseders, superseders],
      [this.#tombstones, tombstones],
    ] as const) {
      assert(queue.length === expected, `${queue.length} versions are queued as garbage, ${expected} will be some`);
      for (let at = 1; at < queue.length; at += 1) {
        assert(this.#versions.mod(queue.at(at - 1)) <= this.#versions.mod(queue.at(at)), 'garbage out of order');
      }
    }
  }

  /** Removes the version that was added last. */
  undo(slot: VersionSlot, supersedesPut: boolean, tombstone: boolean): void {
    if (supersedesPut) {
      assert(this.#superseders.last() === slot, 'undone out of order');
      this.#superseders.removeLast();
    }
    if (tombstone) {
      assert(this.#tombstones.last() === slot, 'undone out of order');
      this.#tombstones.removeLast();
    }
  }

  /** Removes and returns a version whose predecessor is garbage at `revision`, or NO_VERSION if none is left. */
  nextSuperseder(revision: Revision): VersionSlot {
    const slot = this.#superseders.first();
    if (slot === NO_VERSION || this.#versions.mod(slot) > revision) return NO_VERSION;
    this.#superseders.removeFirst();
    return slot;
  }

  /**
   * Removes and returns a tombstone that is garbage at `revision`, or NO_VERSION. Call it once `nextSuperseder` has
   * none left.
   */
  nextTombstone(revision: Revision): VersionSlot {
    const slot = this.#tombstones.first();
    if (slot === NO_VERSION || this.#versions.mod(slot) >= revision) return NO_VERSION;
    this.#tombstones.removeFirst();
    return slot;
  }
}

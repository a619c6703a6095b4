import { assert, type Revision } from '@engram/core';
import { SlotRing } from './slot-ring.ts';
import { NO_VERSION, type VersionSlot } from './version-slot.ts';
import type { VersionTable } from './version-table.ts';

/**
 * What compactions will find, in the order of revisions, so that they look at nothing else:
 * - each version that superseded a put: at its own revision the put is garbage;
 * - each tombstone: above its own revision it is garbage itself.
 * Every version but a key's last put leaves through exactly one of the two. Up to the compaction's revision the first
 * queue is emptied before the second is looked at: that keeps every slot in a queue valid.
 */
export class GarbageQueue {
  readonly #versions: VersionTable;
  readonly #superseders = new SlotRing();
  readonly #tombstones = new SlotRing();

  constructor(versions: VersionTable) {
    this.#versions = versions;
  }

  get length(): number {
    return this.#superseders.length + this.#tombstones.length;
  }

  get memoryBytes(): number {
    return this.#superseders.memoryBytes + this.#tombstones.memoryBytes;
  }

  /** A version was appended, newer than all in the queue. */
  add(slot: VersionSlot, supersedesPut: boolean, tombstone: boolean): void {
    if (supersedesPut) this.#superseders.push(slot);
    if (tombstone) this.#tombstones.push(slot);
  }

  /** The newest version that was added is taken back. */
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

  /** A version whose previous one is garbage at `revision`; NO_VERSION when there is none any more. */
  nextSuperseder(revision: Revision): VersionSlot {
    const slot = this.#superseders.first();
    if (slot === NO_VERSION || this.#versions.mod(slot) > revision) return NO_VERSION;
    this.#superseders.removeFirst();
    return slot;
  }

  /** A tombstone that is garbage at `revision`; ask when `nextSuperseder` has none. */
  nextTombstone(revision: Revision): VersionSlot {
    const slot = this.#tombstones.first();
    if (slot === NO_VERSION || this.#versions.mod(slot) >= revision) return NO_VERSION;
    this.#tombstones.removeFirst();
    return slot;
  }
}

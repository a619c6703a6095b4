import { assert } from '@engram/core';
import { NO_VERSION, type VersionSlot } from './version-slot.ts';

const CAPACITY_MIN = 1024;

/**
 * A queue of versions outside the JavaScript heap. Versions that are undone leave at the back. The capacity doubles
 * when the queue is full and halves when less than a quarter is used.
 */
export class SlotRing {
  #slots = new Int32Array(CAPACITY_MIN);
  #start = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get memoryBytes(): number {
    return this.#slots.byteLength;
  }

  push(slot: VersionSlot): void {
    if (this.#length === this.#slots.length) this.#resize(this.#slots.length * 2);
    this.#slots[(this.#start + this.#length) & (this.#slots.length - 1)] = slot;
    this.#length += 1;
  }

  /** NO_VERSION when empty. */
  first(): VersionSlot {
    return this.#length === 0 ? NO_VERSION : this.#slots[this.#start]!;
  }

  last(): VersionSlot {
    return this.#length === 0 ? NO_VERSION : this.#slots[(this.#start + this.#length - 1) & (this.#slots.length - 1)]!;
  }

  /** The slot at a place from the front, below `length`. */
  at(place: number): VersionSlot {
    assert(place >= 0 && place < this.#length, 'a place outside of the ring');
    return this.#slots[(this.#start + place) & (this.#slots.length - 1)]!;
  }

  removeFirst(): void {
    assert(this.#length > 0, 'nothing to remove from an empty ring');
    this.#start = (this.#start + 1) & (this.#slots.length - 1);
    this.#removed();
  }

  removeLast(): void {
    assert(this.#length > 0, 'nothing to remove from an empty ring');
    this.#removed();
  }

  #removed(): void {
    this.#length -= 1;
    const capacity = this.#slots.length;
    if (capacity > CAPACITY_MIN && this.#length < capacity >>> 2) this.#resize(capacity >>> 1);
  }

  #resize(capacity: number): void {
    const slots = new Int32Array(capacity);
    const mask = this.#slots.length - 1;
    for (let at = 0; at < this.#length; at += 1) slots[at] = this.#slots[(this.#start + at) & mask]!;
    this.#slots = slots;
    this.#start = 0;
  }
}

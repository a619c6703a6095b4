import { randomInt } from 'node:crypto';
import { assert } from '@engram/core';
import type { Stream } from './stream.ts';

/**
 * Number of recently ended streams that are remembered. Frames for older ones are errors, as if the stream had never
 * been opened.
 */
const remembered = 256;

/** Initial number of slots: a power of two, doubled when half of them are taken. */
const firstSlots = 64;

/** Odd and unknown to clients: clients choose the ids, and must not be able to choose ids that fall on one slot. */
const multiplier = randomInt(2 ** 30, 2 ** 31) | 1;

export type ClosedBy = 'client' | 'server';

/**
 * The open streams of a connection, and for recently ended ones whether the client had ended its side. If it had,
 * another frame is an error. If not, the frame may have been in flight when the server ended the stream.
 *
 * The open streams are in an open-addressed table. In a Map they would live longer than they are open. A Map with many
 * insertions and removals is rebuilt every few hundred of them, and each old table points to the next. Once one of these
 * is in the old generation, the collector promotes all that follow, with the streams that were open then. A third of all
 * that a write allocates was copied twice for that.
 */
export class StreamTable {
  /** The highest id that the client has opened. */
  lastId = 0;
  #slots: (Stream | undefined)[] = new Array<Stream | undefined>(firstSlots).fill(undefined);
  #shift = 32 - Math.log2(firstSlots);
  #size = 0;
  readonly #closedIds = new Int32Array(remembered);
  readonly #closedByClient = new Uint8Array(remembered);
  #nextClosed = 0;

  get size(): number {
    return this.#size;
  }

  find(id: number): Stream | undefined {
    return this.#slots[this.#slotOf(id)];
  }

  add(stream: Stream): void {
    if (2 * (this.#size + 1) > this.#slots.length) this.#grow();
    const slot = this.#slotOf(stream.id);
    assert(this.#slots[slot] === undefined, 'a stream was opened twice');
    this.#slots[slot] = stream;
    this.#size += 1;
  }

  remove(id: number, by: ClosedBy): void {
    const slot = this.#slotOf(id);
    if (this.#slots[slot] !== undefined) this.#free(slot);
    this.#closedIds[this.#nextClosed] = id;
    this.#closedByClient[this.#nextClosed] = by === 'client' ? 1 : 0;
    this.#nextClosed = (this.#nextClosed + 1) % remembered;
  }

  /** Undefined for a stream that is not remembered. */
  closedBy(id: number): ClosedBy | undefined {
    const at = this.#closedIds.indexOf(id);
    if (at < 0) return undefined;
    return this.#closedByClient[at] === 1 ? 'client' : 'server';
  }

  /** A copy of the open streams, so that the caller may remove streams meanwhile. */
  [Symbol.iterator](): IterableIterator<Stream> {
    return this.#slots.filter((stream) => stream !== undefined).values();
  }

  /**
   * The open streams, for a caller that removes each of them before it asks for the next, and adds none. A copy of tens of
   * thousands would take milliseconds. Here all slots before the current one are free: `#free` moves streams to later
   * slots only, or to the current one.
   */
  *removable(): Generator<Stream, void, undefined> {
    for (let slot = 0; slot < this.#slots.length; slot += 1) {
      for (let stream = this.#slots[slot]; stream !== undefined; stream = this.#slots[slot]) yield stream;
    }
  }

  /** The slot of the stream, or the free slot that it would get. */
  #slotOf(id: number): number {
    const slots = this.#slots;
    let slot = this.#home(id);
    for (let stream = slots[slot]; stream !== undefined && stream.id !== id; stream = slots[slot]) {
      slot = (slot + 1) & (slots.length - 1);
    }
    return slot;
  }

  #home(id: number): number {
    return Math.imul(id, multiplier) >>> this.#shift;
  }

  /** Moves displaced streams after the freed slot up, so that no lookup meets a gap before them. */
  #free(freed: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let gap = freed;
    for (let slot = (gap + 1) & mask; ; slot = (slot + 1) & mask) {
      const stream = slots[slot];
      if (stream === undefined) break;
      const displaced = (slot - this.#home(stream.id)) & mask;
      if (displaced < ((slot - gap) & mask)) continue;
      slots[gap] = stream;
      gap = slot;
    }
    slots[gap] = undefined;
    this.#size -= 1;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Array<Stream | undefined>(2 * old.length).fill(undefined);
    this.#shift -= 1;
    for (const stream of old) {
      if (stream !== undefined) this.#slots[this.#slotOf(stream.id)] = stream;
    }
  }
}

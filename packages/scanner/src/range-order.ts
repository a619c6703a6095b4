import { type RangeOp, SortOrder, SortTarget } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import { type PureJob, sortingIndices, type Turn } from '@engram/loop';

/** The number of surplus keys that are kept before they are discarded together. */
const SURPLUS_KEYS = 4096;

/** Takes versions in key order, and returns the wanted ones in the order of the answer. */
export interface RangeOrder {
  /** The number of versions that were added. */
  readonly total: number;
  /** No later version can be wanted. */
  readonly full: boolean;
  add(slot: VersionSlot): void;
  /** Call it now and then: discards versions that are no longer wanted. Undefined if the work is done. */
  tidy(): PureJob<void> | undefined;
  /** Returns the wanted versions. Call it once, at the end. */
  finish(): VersionSlot[] | PureJob<VersionSlot[]>;
}

/** The most versions that the order of a range holds at a time. */
export const heldMax = ({ limit, sortTarget }: RangeOp): number =>
  limit > 0 && sortTarget !== SortTarget.VALUE ? 2 * limit + SURPLUS_KEYS : Number.POSITIVE_INFINITY;

/** NONE is not "unsorted": with a target other than KEY etcd sorts ascending (etcd server/etcdserver/txn/range.go). */
export function rangeOrder(index: KeyIndex, op: RangeOp, turn: Turn): RangeOrder {
  const wanted = op.limit > 0 ? op.limit : Number.POSITIVE_INFINITY;
  const descending = op.sortOrder === SortOrder.DESCEND;
  switch (op.sortTarget) {
    case SortTarget.VALUE:
      // The values are sorted later, once the bytes have been read.
      return new KeysUp(Number.POSITIVE_INFINITY);
    case SortTarget.VERSION:
      return new ByNumber((slot) => index.version(slot), wanted, descending, turn);
    case SortTarget.CREATE:
      return new ByNumber((slot) => index.createRevision(slot), wanted, descending, turn);
    case SortTarget.MOD:
      return new ByNumber((slot) => index.modRevision(slot), wanted, descending, turn);
    default:
      return descending ? new KeysDown(wanted, turn) : new KeysUp(wanted);
  }
}

class KeysUp implements RangeOrder {
  readonly #wanted: number;
  readonly #slots: VersionSlot[] = [];
  total = 0;

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  /** One version more than wanted tells that there are more. */
  get full(): boolean {
    return this.total > this.#wanted;
  }

  add(slot: VersionSlot): void {
    if (this.total < this.#wanted) this.#slots.push(slot);
    this.total += 1;
  }

  tidy(): undefined {}

  finish(): VersionSlot[] {
    return this.#slots;
  }
}

class KeysDown implements RangeOrder {
  readonly #wanted: number;
  readonly #turn: Turn;
  #slots: VersionSlot[] = [];
  total = 0;
  readonly full = false;

  constructor(wanted: number, turn: Turn) {
    this.#wanted = wanted;
    this.#turn = turn;
  }

  add(slot: VersionSlot): void {
    this.#slots.push(slot);
    this.total += 1;
  }

  tidy(): PureJob<void> | undefined {
    return this.#slots.length > 2 * this.#wanted + SURPLUS_KEYS ? this.#keepLast() : undefined;
  }

  /** Not `reverse` and `slice`, which take 20 ms each for a million. */
  *finish(): PureJob<VersionSlot[]> {
    const [slots, first] = [this.#slots, this.#firstWanted];
    const reversed: VersionSlot[] = [];
    for (let at = slots.length - 1; at >= first; at -= 1) {
      reversed.push(slots[at]!);
      if (this.#turn.shouldYield()) yield;
    }
    return reversed;
  }

  *#keepLast(): PureJob<void> {
    const slots = this.#slots;
    const last: VersionSlot[] = [];
    for (let at = this.#firstWanted; at < slots.length; at += 1) {
      last.push(slots[at]!);
      if (this.#turn.shouldYield()) yield;
    }
    this.#slots = last;
  }

  get #firstWanted(): number {
    return Math.max(0, this.#slots.length - this.#wanted);
  }
}

/** Orders by a number of the version. Versions with equal numbers stay in key order, also if the numbers descend. */
class ByNumber implements RangeOrder {
  readonly #numberOf: (slot: VersionSlot) => number;
  readonly #wanted: number;
  readonly #sign: number;
  readonly #turn: Turn;
  // Parallel arrays instead of an object for each version, because a store has many keys.
  #slots: VersionSlot[] = [];
  #numbers: number[] = [];
  total = 0;
  readonly full = false;

  constructor(numberOf: (slot: VersionSlot) => number, wanted: number, descending: boolean, turn: Turn) {
    this.#numberOf = numberOf;
    this.#wanted = wanted;
    this.#sign = descending ? -1 : 1;
    this.#turn = turn;
  }

  add(slot: VersionSlot): void {
    this.#slots.push(slot);
    this.#numbers.push(this.#numberOf(slot));
    this.total += 1;
    this.#turn.shouldYield();
  }

  tidy(): PureJob<void> | undefined {
    return this.#slots.length > 2 * this.#wanted + SURPLUS_KEYS ? this.#select() : undefined;
  }

  *finish(): PureJob<VersionSlot[]> {
    yield* this.#select();
    return this.#slots;
  }

  *#select(): PureJob<void> {
    const [slots, numbers] = [this.#slots, this.#numbers];
    const compare = (left: number, right: number): number => this.#sign * (numbers[left]! - numbers[right]!);
    const sorted = yield* sortingIndices(slots.length, compare, this.#turn);
    this.#slots = [];
    this.#numbers = [];
    for (const at of sorted) {
      if (this.#slots.length >= this.#wanted) break;
      this.#slots.push(slots[at]!);
      this.#numbers.push(numbers[at]!);
      if (this.#turn.shouldYield()) yield;
    }
  }
}

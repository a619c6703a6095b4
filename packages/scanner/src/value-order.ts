import { keyValueValue, withoutValue } from '@engram/coder';
import { type ByteList, ByteViews } from '@engram/core';
import { type PureJob, sortingIndices, type Turn } from '@engram/loop';
import type { ValueOrder } from './range-plan.ts';

/** The most surplus versions that are held before they are released together. */
const SURPLUS = 4096;
/** Of long versions fewer are read and held at once: as many as have these bytes, but not fewer than AT_ONCE_MIN. */
const AT_ONCE_BYTES = 1024 * 1024;
const AT_ONCE_MIN = 2;
/** Values that are equal up to here are compared natively. */
const EARLY_BYTES = 64;
const KIB = 1024;
/** Versions longer than this may have long equal prefixes, so only LONG_RUN_ITEMS of them are sorted at once. */
const LONG_BYTES = 4096;
const LONG_RUN_ITEMS = 8;

/** How many versions are read or held at once, at most `most`, if the longest of them has `bytesMax` bytes. */
export const versionsAtOnce = (bytesMax: number, most: number): number =>
  Math.min(most, Math.max(AT_ONCE_MIN, Math.floor(AT_ONCE_BYTES / Math.max(1, bytesMax))));

/**
 * The versions that a range sorted by VALUE wants, out of all that it reads. They are added with their bytes, some at a
 * time. Versions with equal values stay in the order in which they were added.
 */
export class VersionsByValue {
  readonly #order: ValueOrder;
  readonly #wanted: number;
  readonly #sign: number;
  readonly #surplus: number;
  readonly #turn: Turn;
  // Parallel arrays: a version, and where its value begins and ends in it.
  #kvs: Uint8Array[] = [];
  #starts: number[] = [];
  #ends: number[] = [];
  #total = 0;

  constructor(order: ValueOrder, turn: Turn) {
    this.#order = order;
    this.#wanted = order.limit > 0 ? order.limit : Number.POSITIVE_INFINITY;
    this.#sign = order.descending ? -1 : 1;
    this.#surplus = versionsAtOnce(order.bytesMax, SURPLUS);
    this.#turn = turn;
  }

  /** The number of versions that are held. */
  get held(): number {
    return this.#kvs.length;
  }

  *add(kvs: readonly Uint8Array[]): PureJob<void> {
    for (const kv of kvs) {
      const value = keyValueValue(kv);
      const start = value.length === 0 ? 0 : value.byteOffset - kv.byteOffset;
      this.#kvs.push(kv);
      this.#starts.push(start);
      this.#ends.push(start + value.length);
    }
    this.#total += kvs.length;
    this.#turn.shouldYield(kvs.length);
    if (this.held > 2 * this.#wanted + this.#surplus) yield* this.#select();
  }

  *finish(): PureJob<{ readonly kvs: ByteList; readonly more: boolean }> {
    const { limit, keysOnly } = this.#order;
    yield* this.#select();
    const answer = new ByteViews();
    for (const kv of this.#kvs) {
      answer.setView(answer.extend(1), keysOnly ? withoutValue(kv) : kv);
      if (this.#turn.shouldYield()) yield;
    }
    return { kvs: answer, more: limit > 0 && this.#total > limit };
  }

  *#select(): PureJob<void> {
    const [kvs, starts, ends] = [this.#kvs, this.#starts, this.#ends];
    const compare = (left: number, right: number): number => this.#sign * this.#compare(left, right);
    const runItems = this.#order.bytesMax > LONG_BYTES ? LONG_RUN_ITEMS : undefined;
    const sorted = yield* sortingIndices(kvs.length, compare, this.#turn, runItems);
    this.#kvs = [];
    this.#starts = [];
    this.#ends = [];
    for (const at of sorted) {
      if (this.held >= this.#wanted) break;
      this.#kvs.push(kvs[at]!);
      this.#starts.push(starts[at]!);
      this.#ends.push(ends[at]!);
      if (this.#turn.shouldYield()) yield;
    }
  }

  #compare(left: number, right: number): number {
    const leftKv = this.#kvs[left]!;
    const rightKv = this.#kvs[right]!;
    const leftStart = this.#starts[left]!;
    const rightStart = this.#starts[right]!;
    const leftLength = this.#ends[left]! - leftStart;
    const rightLength = this.#ends[right]! - rightStart;
    const common = Math.min(leftLength, rightLength);
    const early = Math.min(common, EARLY_BYTES);
    for (let at = 0; at < early; at += 1) {
      const difference = leftKv[leftStart + at]! - rightKv[rightStart + at]!;
      if (difference !== 0) return difference;
    }
    if (common <= EARLY_BYTES) return leftLength - rightLength;
    this.#turn.shouldYield(common / KIB);
    return Buffer.compare(
      leftKv.subarray(leftStart, leftStart + leftLength),
      rightKv.subarray(rightStart, rightStart + rightLength),
    );
  }
}

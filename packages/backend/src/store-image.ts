import { assert, type Clock, EMPTY_BYTES, type LogPosition, logPosition, type Revision } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import type { Pins, Scanner } from '@engram/scanner';
import { visitKept } from './kept-versions.ts';
import type { ReplicatedState } from './replicated-state.ts';
import type { StoreImage } from './store.ts';

const SLICE_KEYS = 2_000;
const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;

/** The state's versions as of `upTo`, in the order in which they came. It lets others have their turn meanwhile. */
export async function takeImage(
  state: ReplicatedState,
  scanner: Scanner,
  pins: Pins,
  clock: Clock,
  upTo: Revision,
  signal: AbortSignal,
): Promise<StoreImage> {
  const { index, compactRevision } = state;
  const turn = async (): Promise<void> => {
    await new Promise<void>((resolve) => clock.soon(resolve));
    signal.throwIfAborted();
  };
  const pin = pins.hold(compactRevision);
  try {
    const versions = new VersionColumns(index.versions);
    for (let next: Uint8Array | undefined = EMPTY_BYTES; next !== undefined; ) {
      next = index.walk(next, SLICE_KEYS, (_key, head) =>
        visitKept(index, head, compactRevision, upTo, (slot) => versions.add(index, slot)),
      );
      await turn();
    }
    return new VersionImage(upTo, compactRevision, versions, await versions.order(turn), scanner, pin);
  } catch (error) {
    pin[Symbol.dispose]();
    throw error;
  }
}

class VersionImage implements StoreImage {
  readonly revision: Revision;
  readonly compactRevision: Revision;
  readonly #versions: VersionColumns;
  readonly #order: Uint32Array;
  readonly #scanner: Scanner;
  readonly #pin: Disposable;

  constructor(
    revision: Revision,
    compactRevision: Revision,
    versions: VersionColumns,
    order: Uint32Array,
    scanner: Scanner,
    pin: Disposable,
  ) {
    this.revision = revision;
    this.compactRevision = compactRevision;
    this.#versions = versions;
    this.#order = order;
    this.#scanner = scanner;
    this.#pin = pin;
  }

  get count(): number {
    return this.#order.length;
  }

  modRevision(at: number): number {
    return this.#versions.mods[this.#row(at)]!;
  }

  sub(at: number): number {
    return this.#versions.subs[this.#row(at)]!;
  }

  isTombstone(at: number): boolean {
    return this.#versions.tombstones[this.#row(at)] === 1;
  }

  bytes(at: number): number {
    return this.#versions.bytes[this.#row(at)]!;
  }

  async read(from: number, to: number, signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const positions: LogPosition[] = [];
    for (let at = from; at < to; at += 1) positions.push(logPosition(this.#versions.positions[this.#row(at)]!));
    return this.#scanner.versions(positions, this.compactRevision, signal);
  }

  [Symbol.dispose](): void {
    this.#pin[Symbol.dispose]();
  }

  #row(at: number): number {
    assert(at >= 0 && at < this.#order.length, 'a version that the image does not have');
    return this.#order[at]!;
  }
}

/** One row for each version, in the order of keys; 25 bytes a row. */
class VersionColumns {
  mods: Float64Array;
  positions: Float64Array;
  subs: Uint32Array;
  bytes: Uint32Array;
  tombstones: Uint8Array;
  #rows = 0;

  constructor(capacity: number) {
    const rows = Math.max(capacity, 16);
    this.mods = new Float64Array(rows);
    this.positions = new Float64Array(rows);
    this.subs = new Uint32Array(rows);
    this.bytes = new Uint32Array(rows);
    this.tombstones = new Uint8Array(rows);
  }

  add(index: KeyIndex, slot: VersionSlot): void {
    const row = this.#rows;
    if (row === this.mods.length) this.#grow();
    this.mods[row] = index.modRevision(slot);
    this.positions[row] = index.position(slot);
    this.subs[row] = index.sub(slot);
    this.bytes[row] = index.bytes(slot);
    this.tombstones[row] = index.isTombstone(slot) ? 1 : 0;
    this.#rows = row + 1;
  }

  /** The rows by (mod revision, sub). */
  async order(turn: () => Promise<void>): Promise<Uint32Array> {
    const rows = new Uint32Array(this.#rows);
    for (let row = 0; row < rows.length; row += 1) rows[row] = row;
    // The last column sorted by prevails, and keeps the order of the one before among equals.
    return sortBy(await sortBy(rows, this.subs, turn), this.mods, turn);
  }

  #grow(): void {
    const grown = new VersionColumns(this.mods.length * 2);
    for (const name of ['mods', 'positions', 'subs', 'bytes', 'tombstones'] as const) grown[name].set(this[name]);
    this.mods = grown.mods;
    this.positions = grown.positions;
    this.subs = grown.subs;
    this.bytes = grown.bytes;
    this.tombstones = grown.tombstones;
  }
}

/** Rows by whole numbers, equal ones in the order they had: counts digit after digit, with a turn between. Takes `rows`. */
async function sortBy(
  rows: Uint32Array,
  column: Float64Array | Uint32Array,
  turn: () => Promise<void>,
): Promise<Uint32Array> {
  let highest = 0;
  for (const row of rows) if (column[row]! > highest) highest = column[row]!;
  let sorted = rows;
  let target: Uint32Array = new Uint32Array(rows.length);
  for (let unit = 1; unit <= highest; unit *= DIGITS) {
    const starts = new Uint32Array(DIGITS + 1);
    for (const row of sorted) {
      const digit = Math.floor(column[row]! / unit) % DIGITS;
      starts[digit + 1] = starts[digit + 1]! + 1;
    }
    for (let digit = 1; digit <= DIGITS; digit += 1) starts[digit] = starts[digit]! + starts[digit - 1]!;
    for (const row of sorted) {
      const digit = Math.floor(column[row]! / unit) % DIGITS;
      target[starts[digit]!] = row;
      starts[digit] = starts[digit]! + 1;
    }
    [sorted, target] = [target, sorted];
    await turn();
  }
  return sorted;
}

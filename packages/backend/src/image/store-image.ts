import { assert, EMPTY_BYTES, EngramError, type LogPosition, nextTurn, type Revision } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import type { Pin, Scanner } from '@engram/scanner';
import { visitKept } from './kept-versions.ts';
import { sortByPosition } from './sort-by-position.ts';
import type { StoreImage } from '../store.ts';
import type { WalkParts } from '../apply/walk-parts.ts';

const SLICE_KEYS = 1_000;

/**
 * Takes an image of the state's versions as of `upTo`, in the order of their positions. Other requests have their
 * turn meanwhile.
 */
export async function takeImage(
  { state, scanner, pins, clock, sliceMax }: WalkParts,
  upTo: Revision,
  signal: AbortSignal,
): Promise<StoreImage> {
  const { index, compactRevision } = state;
  const pin = pins.hold(compactRevision, true);
  const turn = async (): Promise<void> => {
    await nextTurn(clock);
    signal.throwIfAborted();
    if (pin.revoked) throw new EngramError('Compacted');
  };
  try {
    // Versions written meanwhile are above `upTo`, so the image has at most as many as the index holds now.
    const slots = new Int32Array(index.versions);
    let count = 0;
    for (let next: Uint8Array | undefined = EMPTY_BYTES; next !== undefined; ) {
      next = index.walk(next, Math.min(SLICE_KEYS, sliceMax), (_key, head) =>
        visitKept(index, head, compactRevision, upTo, (slot) => {
          assert(count < slots.length, 'more versions than there were');
          slots[count] = slot;
          count += 1;
        }),
      );
      await turn();
    }
    // Positions are dealt in the order of (mod revision, sub).
    const order = await sortByPosition(slots.subarray(0, count), index, turn);
    return new VersionImage(upTo, compactRevision, index, order, scanner, pin);
  } catch (error) {
    pin[Symbol.dispose]();
    throw error;
  }
}

/** Takes four bytes a version. The pin keeps the versions in the index, which knows everything else. */
class VersionImage implements StoreImage {
  readonly revision: Revision;
  readonly compactRevision: Revision;
  readonly count: number;
  readonly #index: KeyIndex;
  readonly #scanner: Scanner;
  readonly #pin: Pin;
  #slots: Int32Array;

  constructor(
    revision: Revision,
    compactRevision: Revision,
    index: KeyIndex,
    slots: Int32Array,
    scanner: Scanner,
    pin: Pin,
  ) {
    this.revision = revision;
    this.compactRevision = compactRevision;
    this.count = slots.length;
    this.#index = index;
    this.#slots = slots;
    this.#scanner = scanner;
    this.#pin = pin;
  }

  modRevision(at: number): number {
    return this.#index.modRevision(this.#slot(at));
  }

  sub(at: number): number {
    return this.#index.sub(this.#slot(at));
  }

  isTombstone(at: number): boolean {
    return this.#index.isTombstone(this.#slot(at));
  }

  bytes(at: number): number {
    return this.#index.bytes(this.#slot(at));
  }

  async read(from: number, to: number, signal: AbortSignal): Promise<readonly Uint8Array[]> {
    this.#checkHeld();
    const positions: LogPosition[] = [];
    for (let at = from; at < to; at += 1) positions.push(this.#index.position(this.#slot(at)));
    try {
      return await this.#scanner.passing(positions, this.compactRevision, signal);
    } catch (error) {
      this.#checkHeld();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    // From now on a slot may belong to another version.
    this.#slots = new Int32Array(0);
    this.#pin[Symbol.dispose]();
  }

  /** A revoked pin no longer keeps the slots: each may belong to another version. Errors: Compacted. */
  #checkHeld(): void {
    if (this.#pin.revoked) throw new EngramError('Compacted');
  }

  #slot(at: number): VersionSlot {
    this.#checkHeld();
    const slot = this.#slots[at];
    assert(slot !== undefined, 'a version that the image does not have, or an image that was let go');
    return slot;
  }
}

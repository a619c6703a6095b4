import { assert, EMPTY_BYTES, EngramError, type LogPosition, type Revision } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import type { PureJob, Task } from '@engram/loop';
import type { Pin, Scanner } from '@engram/scanner';
import { visitKept } from './kept-versions.ts';
import { sortByPosition } from './sort-by-position.ts';
import type { StoreImage } from '../store.ts';
import type { WalkParts } from '../apply/walk-parts.ts';

const IMAGE: Task = { work: 'background', caller: 'images', stage: 'image' };

/** Takes an image of the state's versions as of `upTo`, in the order of their positions. */
export async function takeImage(parts: WalkParts, upTo: Revision, signal: AbortSignal): Promise<StoreImage> {
  const image = await parts.loop.run(IMAGE, taking(parts, upTo), signal);
  if (!signal.aborted) return image;
  image[Symbol.dispose]();
  throw signal.reason;
}

function* taking(parts: WalkParts, upTo: Revision): PureJob<StoreImage> {
  const { index, compactRevision } = parts.state;
  const pin = parts.pins.hold(compactRevision, true);
  let taken = false;
  try {
    // Positions are assigned in the order of (mod revision, sub).
    const order = yield* whileHeld(pin, sortedSlots(parts, compactRevision, upTo));
    taken = true;
    return new VersionImage(upTo, compactRevision, index, order, parts.scanner, pin);
  } finally {
    if (!taken) pin[Symbol.dispose]();
  }
}

/** A compaction may revoke the pin while others have their turn. Error: Compacted. */
function* whileHeld<Result>(pin: Pin, job: PureJob<Result>): PureJob<Result> {
  for (;;) {
    const slice = job.next();
    if (slice.done === true) return slice.value;
    yield;
    if (pin.revoked) throw new EngramError('Compacted');
  }
}

function* sortedSlots({ state, loop }: WalkParts, compactRevision: Revision, upTo: Revision): PureJob<Int32Array> {
  const { index } = state;
  // Versions written meanwhile are above `upTo`, so the image has at most as many as the index holds now.
  const slots = new Int32Array(index.versions);
  let count = 0;
  const visit = (_key: Uint8Array, head: VersionSlot): number =>
    visitKept(index, head, compactRevision, upTo, (slot) => {
      assert(count < slots.length, 'more versions than there were');
      slots[count] = slot;
      count += 1;
    });
  for (let next: Uint8Array | undefined = EMPTY_BYTES; next !== undefined; ) {
    next = index.walk(next, Number.POSITIVE_INFINITY, visit, loop);
    if (loop.shouldYield(0)) yield;
  }
  return yield* sortByPosition(slots.subarray(0, count), index, loop);
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

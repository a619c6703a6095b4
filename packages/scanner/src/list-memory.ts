import { ByteViews } from '@engram/core';

/** The log positions and the lengths of the versions of a list. */
export interface Places {
  readonly positions: Float64Array;
  readonly lengths: Uint32Array;
}

/** Room for a list that fits in one slice of the index. For a longer list, each step allocates four times the length. */
const PLACES_MIN = 4096;
/** Longer arrays are not kept for reuse. */
const KEPT_PLACES_MAX = 4 * PLACES_MIN;
/** How many of each kind are kept: 384 KiB of short places, and 1.5 MiB of long ones. */
const KEPT_MAX = 8;
/** The most stretches of a ByteViews that is kept. */
const KEPT_VIEWS_MAX = 4096;

/**
 * Memory that the long lists of one node reuse, one after another. V8 allocates arrays of this size outside of its
 * heap: a new array costs as much as looking up five hundred versions.
 */
export class ListMemory {
  readonly #short: Places[] = [];
  readonly #long: Places[] = [];
  readonly #views: ByteViews[] = [];

  /** Places with room for `length` versions. They still contain values of earlier lists. */
  takePlaces(length: number): Places {
    if (length <= PLACES_MIN) return this.#short.pop() ?? newPlaces(PLACES_MIN);
    if (length <= KEPT_PLACES_MAX) return this.#long.pop() ?? newPlaces(KEPT_PLACES_MAX);
    return newPlaces(4 * length);
  }

  /** The caller must not use the places after this call. */
  givePlaces(places: Places): void {
    const { length } = places.lengths;
    const kept = length === PLACES_MIN ? this.#short : this.#long;
    if (length <= KEPT_PLACES_MAX && kept.length < KEPT_MAX) kept.push(places);
  }

  /** An empty list with about the needed capacity. */
  takeViews(length: number): ByteViews {
    return this.#views.pop() ?? new ByteViews(length);
  }

  giveViews(views: ByteViews): void {
    if (views.length > KEPT_VIEWS_MAX || this.#views.length === KEPT_MAX) return;
    views.clear();
    this.#views.push(views);
  }
}

const newPlaces = (length: number): Places => ({
  positions: new Float64Array(length),
  lengths: new Uint32Array(length),
});

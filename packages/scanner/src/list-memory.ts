import { ByteViews } from '@engram/core';

/** Where the versions of a list are, and how long they are. */
export interface Places {
  readonly positions: Float64Array;
  readonly lengths: Uint32Array;
}

/** Room for a list that is one slice of the index. Longer ones get four times as much at each step. */
const PLACES_MIN = 4096;
/** Longer arrays are not kept. */
const KEPT_PLACES_MAX = 4 * PLACES_MIN;
/** Of each kind: a megabyte and a half in all. */
const KEPT_MAX = 8;
/** Stretches of a page that is kept. */
const KEPT_VIEWS_MAX = 4096;

/**
 * What long lists of one node are made in, one after another. V8 keeps arrays of this size outside of its heap: to get a new
 * one costs as much as looking up five hundred versions.
 */
export class ListMemory {
  readonly #short: Places[] = [];
  readonly #long: Places[] = [];
  readonly #views: ByteViews[] = [];

  /** With room for so many; what they hold is of earlier lists. */
  takePlaces(length: number): Places {
    if (length <= PLACES_MIN) return this.#short.pop() ?? newPlaces(PLACES_MIN);
    if (length <= KEPT_PLACES_MAX) return this.#long.pop() ?? newPlaces(KEPT_PLACES_MAX);
    return newPlaces(4 * length);
  }

  /** Whoever gives them does not use them any more. */
  givePlaces(places: Places): void {
    const { length } = places.lengths;
    const kept = length === PLACES_MIN ? this.#short : this.#long;
    if (length <= KEPT_PLACES_MAX && kept.length < KEPT_MAX) kept.push(places);
  }

  /** Empty, about as large as needed. */
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

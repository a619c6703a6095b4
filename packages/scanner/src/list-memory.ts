import { ByteViews } from '@engram/core';

/** The log positions and the lengths of the versions of a list. */
export interface Places {
  readonly positions: Float64Array;
  readonly lengths: Uint32Array;
}

/** Versions of one piece of places: a list that fits in one slice of the index has one. */
export const PLACES = 4096;
/** How many pieces are kept: 1.5 MiB. */
const KEPT_PLACES_MAX = 32;
/** How many views are kept. */
const KEPT_MAX = 8;
/** The most stretches of a ByteViews that is kept. */
const KEPT_VIEWS_MAX = 4096;

/**
 * Memory that the long lists of one node reuse, one after another. V8 allocates arrays of this size outside of its
 * heap: a new array costs as much as looking up five hundred versions.
 */
export class ListMemory {
  readonly #places: Places[] = [];
  readonly #views: ByteViews[] = [];

  /** Places with room for PLACES versions. They still contain values of earlier lists. */
  takePlaces(): Places {
    return this.#places.pop() ?? { positions: new Float64Array(PLACES), lengths: new Uint32Array(PLACES) };
  }

  /** The caller must not use the places after this call. */
  givePlaces(places: Places): void {
    if (this.#places.length < KEPT_PLACES_MAX) this.#places.push(places);
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

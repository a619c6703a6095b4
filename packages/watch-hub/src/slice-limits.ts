import { SLICE_US } from '@engram/core';

/** How much a hub does before others have their turn. */
export interface SliceLimits {
  /** Of one slice, in microseconds of work as they are estimated below. */
  readonly sliceUs: number;
  /** Matching, and then handing out, up to which a batch is published within the call. */
  readonly atOnceUs: number;
  /** Events of a revision from which on they are not matched one by one. */
  readonly largeGroup: number;
  /**
   * Events that are copied out of such a revision, for ranges that match a part of it, before those who match yet other
   * parts are left to history: nobody else's events wait for theirs.
   */
  readonly cutEventsMax: number;
}

export const SLICE_LIMITS: SliceLimits = {
  sliceUs: SLICE_US,
  atOnceUs: 2 * SLICE_US,
  largeGroup: 1_000,
  cutEventsMax: 1 << 20,
};

/** A watcher is dropped, or told of something. */
export const VISIT_US = 4;
/** An offer to a watcher's sink, which puts a head before bytes that are there. */
export const OFFER_US = 2;
/** A range that matches an event. */
export const MATCH_US = 1;
/** An event is looked at, or copied. */
export const EVENT_US = 0.1;

import { SLICE_US } from '@engram/core';

/** How much work a hub does before it yields to the event loop. */
export interface SliceLimits {
  /** Length of one slice, in microseconds of work as estimated below. */
  readonly sliceUs: number;
  /** A batch is published within the call if matching takes no longer than this, and handing out no longer either. */
  readonly atOnceUs: number;
  /** A revision with at least so many events is searched by range, not event by event. */
  readonly largeGroup: number;
  /**
   * How many events may be copied out of such a revision, for ranges that match a part of it. Ranges that match yet
   * other parts read history then, so that nobody else's events wait for their copies.
   */
  readonly cutEventsMax: number;
}

export const SLICE_LIMITS: SliceLimits = {
  sliceUs: SLICE_US,
  atOnceUs: 2 * SLICE_US,
  largeGroup: 1_000,
  cutEventsMax: 1 << 20,
};

/** Cost of dropping a watcher, or of telling it something. */
export const VISIT_US = 4;
/** Cost of an offer to a sink, which writes a header before bytes that are encoded already. */
export const OFFER_US = 2;
/** Cost of a range that matches an event. */
export const MATCH_US = 1;
/** Cost of looking at an event, or of copying it. */
export const EVENT_US = 0.1;

import { SLICE_US } from '@engram/core';

/** How much work a hub does before it yields to the event loop. */
export interface SliceLimits {
  /** Length of one slice, in microseconds of work as estimated below. */
  readonly sliceUs: number;
  /** A batch is published within the call if neither matching nor handing out takes longer than this. */
  readonly atOnceUs: number;
  /** A revision with at least this many events is searched by range, not event by event. */
  readonly largeGroup: number;
  /**
   * Events that may be copied out of such a revision, for ranges that match a part of it. Above this, the watchers of
   * other partial ranges read history, so that the events of other watchers do not wait for the copies.
   */
  readonly cutEventsMax: number;
}

export const SLICE_LIMITS: SliceLimits = {
  sliceUs: SLICE_US,
  atOnceUs: 2 * SLICE_US,
  largeGroup: 1_000,
  cutEventsMax: 1 << 20,
};

/** Cost of dropping a watcher, or of one call of its sink about progress or compaction. */
export const VISIT_US = 4;
/** Cost of an offer to a sink, which writes a header before bytes that are encoded already. */
export const OFFER_US = 2;
/** Cost of a range that matches an event. */
export const MATCH_US = 1;
/** Cost of looking at an event, or of copying it. */
export const EVENT_US = 0.1;

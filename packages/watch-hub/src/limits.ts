/** What a hub does at a time, in numbers of matches, events and watchers. When it gives way is the loop's to say. */
export interface WatchLimits {
  /** A revision with at least this many events is searched by range, not event by event. */
  readonly largeGroup: number;
  /** So is one whose events more ranges match than this. Also the number of matches that are recorded at a time. */
  readonly matchesMax: number;
  /**
   * Events that may be copied out of such a revision, for ranges that match a part of it. Above this, the watchers of
   * other partial ranges read history, so that the events of other watchers do not wait for the copies.
   */
  readonly cutEventsMax: number;
  /** Watchers that are handed an offer, or events that are looked at, between two questions to the loop. */
  readonly stride: number;
}

export const WATCH_LIMITS: WatchLimits = {
  largeGroup: 1_000,
  matchesMax: 4_000,
  cutEventsMax: 1 << 20,
  stride: 16,
};

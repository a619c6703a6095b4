import { assert, type EventGroup, type KvEvent, type Revision } from '@engram/core';
import type { PureJob, Turn } from '@engram/loop';
import { DROP_NOTHING, type Filter, passes } from '../events/group-subsets.ts';
import type { HistoryPage } from '../ports.ts';

/** Asserts that a page keeps the contract of `History.read`. Returns the number of its events. */
export function checkPage(page: HistoryPage, from: Revision, to: Revision): number {
  assert(page.next > from, 'a page of history without progress');
  let last = from - 1;
  let events = 0;
  for (const group of page.groups) {
    assert(group.revision > last && group.revision <= to, 'a page of history out of order');
    last = group.revision;
    events += group.events.length;
  }
  assert(last < page.next, 'a page of history beyond its end');
  return events;
}

/** Events that are looked at between two questions. */
const STRIDE = 256;

/** The groups without the events that the filter drops. The same object if nothing is to be dropped. */
export function* filtering(groups: readonly EventGroup[], filter: Filter, turn: Turn): PureJob<readonly EventGroup[]> {
  if (filter === DROP_NOTHING) return groups;
  const filtered: EventGroup[] = [];
  let asked = 0;
  for (const group of groups) {
    const events: KvEvent[] = [];
    for (const event of group.events) {
      if (passes(filter, event)) events.push(event);
      asked += 1;
      if (asked < STRIDE) continue;
      asked = 0;
      if (turn.shouldYield(STRIDE)) yield;
    }
    if (events.length === group.events.length) filtered.push(group);
    else if (events.length > 0) filtered.push({ revision: group.revision, events });
  }
  return filtered;
}

/** The number of events in an offer. */
export function countEvents(groups: readonly EventGroup[]): number {
  let events = 0;
  for (const group of groups) events += group.events.length;
  return events;
}

import { assert, type EventGroup, type KvEvent, type Revision } from '@engram/core';
import { DROP_NOTHING, type Filter, filterGroup, passes } from '../events/group-shares.ts';
import type { Sliced } from '../sliced.ts';
import type { HistoryPage } from '../ports.ts';
import { EVENT_US } from '../slice-limits.ts';

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

/** The groups without the events that the filter drops. */
export function filterGroups(groups: readonly EventGroup[], filter: Filter): readonly EventGroup[] {
  if (filter === DROP_NOTHING) return groups;
  const filtered: EventGroup[] = [];
  for (const group of groups) {
    const left = filterGroup(group, filter);
    if (left !== undefined) filtered.push(left);
  }
  return filtered;
}

/** Like `filterGroups`, in slices, for groups with very many events. */
export async function filterInSlices(
  groups: readonly EventGroup[],
  filter: Filter,
  sliced: Sliced,
): Promise<readonly EventGroup[]> {
  if (filter === DROP_NOTHING) return groups;
  const filtered: EventGroup[] = [];
  for (const group of groups) {
    const events: KvEvent[] = [];
    for (let from = 0; from < group.events.length; from += sliced.eventsMax) {
      const end = Math.min(group.events.length, from + sliced.eventsMax);
      for (let at = from; at < end; at += 1) {
        const event = group.events[at]!;
        if (passes(filter, event)) events.push(event);
      }
      sliced.spend((end - from) * EVENT_US);
      while (sliced.spent) await sliced.turn();
    }
    if (events.length > 0) filtered.push({ revision: group.revision, events });
  }
  return filtered;
}

/** The number of events in an offer. */
export function countEvents(groups: readonly EventGroup[]): number {
  let events = 0;
  for (const group of groups) events += group.events.length;
  return events;
}

import type { EventGroup } from '@engram/core';

/** Cuts groups into what a sink is offered at once: at most so many, and so many bytes of events, or one larger group. */
export function cutIntoOffers(
  groups: readonly EventGroup[],
  groupsMax: number,
  bytesMax: number,
): readonly (readonly EventGroup[])[] {
  const offers: (readonly EventGroup[])[] = [];
  let start = 0;
  let bytes = 0;
  for (let at = 0; at < groups.length; at += 1) {
    const size = groupBytes(groups[at]!);
    if (at > start && (at - start === groupsMax || bytes + size > bytesMax)) {
      offers.push(groups.slice(start, at));
      start = at;
      bytes = 0;
    }
    bytes += size;
  }
  if (start === 0) return groups.length === 0 ? [] : [groups];
  offers.push(groups.slice(start));
  return offers;
}

function groupBytes(group: EventGroup): number {
  let bytes = 0;
  for (const { kv, prevKv } of group.events) bytes += kv.length + (prevKv?.length ?? 0);
  return bytes;
}

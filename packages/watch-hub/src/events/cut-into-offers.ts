import type { EventGroup } from '@engram/core';

/**
 * Cuts groups into offers of at most `groupsMax` groups and `bytesMax` bytes. A larger group is an offer of its own.
 */
export function cutIntoOffers(
  groups: readonly EventGroup[],
  groupsMax: number,
  bytesMax: number,
): readonly (readonly EventGroup[])[] {
  const offers: (readonly EventGroup[])[] = [];
  let start = 0;
  let bytes = 0;
  for (let at = 0; at < groups.length; at += 1) {
    const size = groupBytes(groups[at]!, bytesMax);
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

/** Bytes of a group. Stops counting above `enough`, because one revision may have very many events. */
function groupBytes({ events }: EventGroup, enough: number): number {
  let bytes = 0;
  for (let at = 0; at < events.length && bytes <= enough; at += 1) {
    const { kv, prevKv } = events[at]!;
    bytes += kv.length + (prevKv?.length ?? 0);
  }
  return bytes;
}

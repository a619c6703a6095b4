import type { EventGroup, Revision } from '@engram/core';
import { cutIntoOffers } from './cut-into-offers.ts';
import type { Filter, GroupShares, Share } from './group-shares.ts';

/** What a range matches of one revision. */
export interface Match {
  readonly shares: GroupShares;
  /** Of the matching events, ascending; undefined: all. */
  readonly indices: readonly number[] | undefined;
}

/** What those watchers of a range that have the same filter get of a batch: made once for all of them. */
export class Run {
  /** One for each revision that has something for them. */
  readonly shares: readonly Share[];
  /** The same, as a sink is offered it. The arrays are shared by all who are offered them. */
  readonly offers: readonly (readonly EventGroup[])[];
  /** Its first revision; beyond all revisions when it is empty. */
  readonly first: Revision | number;
  readonly prevKvMissing: boolean;

  /** `matches` in the order of their revisions. */
  constructor(matches: readonly Match[], filter: Filter, offerBytesMax: number) {
    const shares: Share[] = [];
    const groups: EventGroup[] = [];
    let prevKvMissing = false;
    for (const { shares: all, indices } of matches) {
      const share = all.of(indices, filter);
      if (share === undefined) continue;
      shares.push(share);
      groups.push(share.groups[0]!);
      if (share.prevKvMissing) prevKvMissing = true;
    }
    this.shares = shares;
    // One revision: its own array, which other ranges that match the same events are offered too.
    this.offers = shares.length === 1 ? [shares[0]!.groups] : cutIntoOffers(groups, groups.length, offerBytesMax);
    this.first = groups[0]?.revision ?? Number.POSITIVE_INFINITY;
    this.prevKvMissing = prevKvMissing;
  }
}

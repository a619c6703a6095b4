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
  /** One revision with very many events: sinks may want to make it ready in slices. */
  readonly large: boolean;

  /** In the order of their revisions. */
  constructor(shares: readonly Share[], offerBytesMax: number, large = false) {
    this.shares = shares;
    this.large = large;
    // One revision: its own array, which other ranges that match the same events are offered too.
    this.offers = shares.length === 1 ? [shares[0]!.groups] : offersOf(shares, offerBytesMax);
    this.first = shares[0]?.groups[0]?.revision ?? Number.POSITIVE_INFINITY;
    this.prevKvMissing = shares.some((share) => share.prevKvMissing);
  }

  /** `matches` in the order of their revisions. */
  static of(matches: readonly Match[], filter: Filter, offerBytesMax: number): Run {
    const shares: Share[] = [];
    for (const { shares: all, indices } of matches) {
      const share = all.of(indices, filter);
      if (share !== undefined) shares.push(share);
    }
    return new Run(shares, offerBytesMax);
  }
}

function offersOf(shares: readonly Share[], bytesMax: number): readonly (readonly EventGroup[])[] {
  const groups = shares.map((share) => share.groups[0]!);
  return cutIntoOffers(groups, groups.length, bytesMax);
}

import type { EventGroup, Revision } from '@engram/core';
import { cutIntoOffers } from './cut-into-offers.ts';
import type { Filter, GroupShares, Share } from './group-shares.ts';

/** The events of one revision that a range matches. */
export interface Match {
  readonly shares: GroupShares;
  /** The indices of the matching events, ascending; undefined if all match. */
  readonly indices: readonly number[] | undefined;
}

/** The events of a batch for all watchers of a range with the same filter. Made once for all of them. */
export class Run {
  /** One share for each revision that has events for these watchers. */
  readonly shares: readonly Share[];
  /** The same groups, cut into offers to a sink. All watchers that are offered the run share the arrays. */
  readonly offers: readonly (readonly EventGroup[])[];
  /** The first revision of the run; above all revisions if the run is empty. */
  readonly first: Revision | number;
  readonly prevKvMissing: boolean;
  /** True if the run is one revision with very many events, which a sink may prepare in slices. */
  readonly large: boolean;

  /** `shares` are in the order of their revisions. */
  constructor(shares: readonly Share[], offerBytesMax: number, large = false) {
    this.shares = shares;
    this.large = large;
    // A single revision keeps the share's own array, which other ranges that match the same events are offered too.
    this.offers = shares.length === 1 ? [shares[0]!.groups] : offersOf(shares, offerBytesMax);
    this.first = shares[0]?.groups[0]?.revision ?? Number.POSITIVE_INFINITY;
    this.prevKvMissing = shares.some((share) => share.prevKvMissing);
  }

  /** `matches` are in the order of their revisions. */
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

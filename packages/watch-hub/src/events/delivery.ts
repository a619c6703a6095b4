import type { EventGroup, Revision } from '@engram/core';
import { cutIntoOffers } from './cut-into-offers.ts';
import type { Filter, GroupSubsets, Subset } from './group-subsets.ts';

/** The events of one revision that a range matches. */
export interface Match {
  readonly subsets: GroupSubsets;
  /** The indices of the matching events, ascending; undefined if all match. */
  readonly indices: readonly number[] | undefined;
}

/** The events of a batch for all watchers of a range with the same filter. Made once for all of them. */
export class Delivery {
  /** One subset for each revision that has events for these watchers. */
  readonly subsets: readonly Subset[];
  /** The same groups, cut into offers to a sink. All watchers that are offered the delivery share the arrays. */
  readonly offers: readonly (readonly EventGroup[])[];
  /** The first revision of the delivery; above all revisions if the delivery is empty. */
  readonly first: Revision | number;
  readonly prevKvMissing: boolean;
  /** True if the delivery is one revision with very many events, which a sink may prepare in slices. */
  readonly large: boolean;

  /** `subsets` are in the order of their revisions. */
  constructor(subsets: readonly Subset[], offerBytesMax: number, large = false) {
    this.subsets = subsets;
    this.large = large;
    // A single revision keeps the subset's own array, which other ranges that match the same events are offered too.
    this.offers = subsets.length === 1 ? [subsets[0]!.groups] : offersOf(subsets, offerBytesMax);
    this.first = subsets[0]?.groups[0]?.revision ?? Number.POSITIVE_INFINITY;
    this.prevKvMissing = subsets.some((subset) => subset.prevKvMissing);
  }

  /** `matches` are in the order of their revisions. */
  static of(matches: readonly Match[], filter: Filter, offerBytesMax: number): Delivery {
    const subsets: Subset[] = [];
    for (const { subsets: all, indices } of matches) {
      const subset = all.of(indices, filter);
      if (subset !== undefined) subsets.push(subset);
    }
    return new Delivery(subsets, offerBytesMax);
  }
}

function offersOf(subsets: readonly Subset[], bytesMax: number): readonly (readonly EventGroup[])[] {
  const groups = subsets.map((subset) => subset.groups[0]!);
  return cutIntoOffers(groups, groups.length, bytesMax);
}

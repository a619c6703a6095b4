import { type EventGroup, keyBytes, keyText, type LeaseId, NO_LEASE } from '@engram/core';
import type { Lessor } from '@engram/lease';
import type { SequencedLeases } from '@engram/sequencer';
import type { CommittedWrite } from './committed-write.ts';

/**
 * Leases as they will be when everything that is sequenced has taken effect: what a decision must see and a reader must
 * not. It lies over the state's leases and holds only what is under way, so a leadership that ends takes it along, and
 * nothing has to be undone.
 */
export class PendingLeases implements SequencedLeases {
  readonly #lessor: Lessor;
  /** Of the marks under way for an id, the last one. */
  readonly #decided = new Map<LeaseId, { readonly exists: boolean; underWay: number }>();
  /** Keys that puts under way attach, in the form of `keyText`, each with the number of those puts. */
  readonly #attaching = new Map<LeaseId, Map<string, number>>();

  constructor(lessor: Lessor) {
    this.#lessor = lessor;
  }

  has(id: LeaseId): boolean {
    return this.#decided.get(id)?.exists ?? this.#lessor.has(id);
  }

  /** A grant or a revoke is under way: what is said of the lease now may not come true. */
  isUndecided(id: LeaseId): boolean {
    return this.#decided.has(id);
  }

  decide(id: LeaseId, exists: boolean): void {
    this.#decided.set(id, { exists, underWay: (this.#decided.get(id)?.underWay ?? 0) + 1 });
  }

  attach(id: LeaseId, key: Uint8Array): void {
    const text = keyText(key);
    const keys = this.#attaching.get(id);
    if (keys === undefined) this.#attaching.set(id, new Map([[text, 1]]));
    else keys.set(text, (keys.get(text) ?? 0) + 1);
  }

  /**
   * Every key that may be attached to the lease once all is durable, in byte order: attached now, or about to be. Whether
   * it still is at the end the caller asks the index.
   */
  candidates(id: LeaseId): readonly Uint8Array[] {
    const attaching = this.#attaching.get(id);
    if (attaching === undefined) return this.#lessor.keys(id);
    const texts = new Set(attaching.keys());
    for (const key of this.#lessor.keys(id)) texts.add(keyText(key));
    return [...texts].sort().map(keyBytes);
  }

  /** A write that was sequenced here has taken effect: the state says now what this did. */
  applied({ mark, group }: CommittedWrite): void {
    if (mark !== undefined && (mark.kind === 'lease-grant' || mark.kind === 'lease-revoke')) {
      const decided = this.#decided.get(mark.id);
      if (decided !== undefined) {
        decided.underWay -= 1;
        if (decided.underWay === 0) this.#decided.delete(mark.id);
      }
    }
    if (group !== undefined && this.#attaching.size > 0) this.#appliedChanges(group);
  }

  #appliedChanges(group: EventGroup): void {
    for (const { key, lease, prevLease } of group.events) {
      if (lease === NO_LEASE || lease === prevLease) continue;
      const keys = this.#attaching.get(lease);
      if (keys === undefined) continue;
      const text = keyText(key);
      const left = (keys.get(text) ?? 0) - 1;
      if (left > 0) keys.set(text, left);
      else keys.delete(text);
      if (keys.size === 0) this.#attaching.delete(lease);
    }
  }
}

import { assert, type EventGroup, keyText, type LeaseId, NO_LEASE } from '@engram/core';
import { type PureJob, sorting, type Turn } from '@engram/loop';
import type { Lessor } from '@engram/lease';
import type { DecidedLeases } from '@engram/sequencer';
import type { CommittedWrite } from '../apply/committed-write.ts';

/**
 * Leases as they will be when everything that is decided has taken effect. Decisions must see this, and readers
 * must not. It is an overlay on the state's leases that holds only changes under way. When the leadership ends, the
 * overlay is discarded, and the state's leases need no undo.
 */
export class PendingLeases implements DecidedLeases {
  readonly #lessor: Lessor;
  /** By lease id: whether the lease exists after the last mark under way, and how many marks are under way. */
  readonly #decided = new Map<LeaseId, { readonly exists: boolean; underWay: number }>();
  /** By lease id: the keys that puts under way attach, in the form of `keyText`, each with the number of those puts. */
  readonly #attaching = new Map<LeaseId, Map<string, number>>();

  constructor(lessor: Lessor) {
    this.#lessor = lessor;
  }

  has(id: LeaseId): boolean {
    return this.#decided.get(id)?.exists ?? this.#lessor.has(id);
  }

  /** A grant or a revoke of the lease is under way, so the answer of `has` may not come true. */
  isChanging(id: LeaseId): boolean {
    return this.#decided.has(id);
  }

  /** The number of leases with a grant or a revoke under way. */
  get changing(): number {
    return this.#decided.size;
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

  /** The put that would have attached `key` is undone. */
  detach(id: LeaseId, key: Uint8Array): void {
    const keys = this.#attaching.get(id);
    assert(keys !== undefined, 'a key is detached from a lease that none is attached to');
    this.#attached(id, keys, key);
  }

  /**
   * Every key that may be attached to the lease once all is durable, in byte order and in the form of `keyText`.
   * These are the keys that are attached now and the keys that puts under way attach; some occur twice. The caller
   * must ask the index whether a key is still attached in the end. The keys of puts are read first: a write that
   * takes effect meanwhile moves its keys to the attached ones, so none is missed.
   */
  *candidates(id: LeaseId, turn: Turn): PureJob<readonly string[]> {
    const texts: string[] = [];
    for (const text of this.#attaching.get(id)?.keys() ?? []) {
      texts.push(text);
      if (turn.shouldYield()) yield;
    }
    for (const text of this.#lessor.keyTexts(id)) {
      texts.push(text);
      if (turn.shouldYield()) yield;
    }
    return yield* sorting(texts, compareTexts, turn);
  }

  /**
   * A decided write has taken effect. The state now has its changes, so the overlay drops them. Returns the rest of
   * this work, or undefined if it is done.
   */
  applied({ mark, group }: CommittedWrite, turn: Turn): PureJob<void> | undefined {
    if (mark !== undefined && (mark.kind === 'lease-grant' || mark.kind === 'lease-revoke')) {
      const decided = this.#decided.get(mark.id);
      if (decided !== undefined) {
        decided.underWay -= 1;
        if (decided.underWay === 0) this.#decided.delete(mark.id);
      }
    }
    if (group === undefined || this.#attaching.size === 0) return undefined;
    return this.#appliedChanges(group, turn);
  }

  *#appliedChanges(group: EventGroup, turn: Turn): PureJob<void> {
    for (const { key, lease, prevLease } of group.events) {
      if (lease !== NO_LEASE && lease !== prevLease) {
        const keys = this.#attaching.get(lease);
        if (keys !== undefined) this.#attached(lease, keys, key);
      }
      if (turn.shouldYield()) yield;
    }
  }

  #attached(id: LeaseId, keys: Map<string, number>, key: Uint8Array): void {
    const text = keyText(key);
    const left = (keys.get(text) ?? 0) - 1;
    if (left > 0) keys.set(text, left);
    else keys.delete(text);
    if (keys.size === 0) this.#attaching.delete(id);
  }
}

/** One character is one byte, so texts sort as the bytes do. */
const compareTexts = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

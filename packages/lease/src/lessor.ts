import { assert, keyBytes, keyText, type LeaseId, NO_LEASE } from '@engram/core';
import { DueHeap } from './due-heap.ts';

/** etcd server/lease/lessor.go, MaxLeaseTTL. In milliseconds it is far below 2^53. */
export const MAX_TTL_SECONDS = 9_000_000_000;

/** A lease as it was at the time of the call. */
export interface Lease {
  readonly id: LeaseId;
  /** The granted TTL: the requested one, raised to the minimum. */
  readonly ttlSeconds: number;
  /** The remaining seconds that `checkpoint` noted; 0 if none. `extendAll` gives these instead of the whole TTL. */
  readonly checkpointSeconds: number;
  readonly keyCount: number;
}

interface Held {
  readonly id: LeaseId;
  readonly ttlSeconds: number;
  checkpointSeconds: number;
  /** The attached keys, in the form of `keyText`. */
  readonly keys: Set<string>;
  /** Its deadline. After `handBack`, the time from which `expired` offers it again. */
  dueMs: number;
  slot: number;
  placedMs: number;
  /** `expired` has handed it out: a revoke is under way, so no renewal may succeed any more. */
  ended: boolean;
}

/**
 * All leases of the store, with their keys and deadlines. Every node keeps one, fed by the log. Deadlines are
 * meaningful only on the leader, from `extendAll` at its takeover on. A lease may live longer than its TTL, never
 * shorter: only `expired` hands out a lease for its end, and only `revoke` removes one.
 *
 * The Map has the ids as bigints. Measured at 100k leases, strings or halves as keys cost as much. Only ids below
 * 2^53, which clients seldom choose, would be faster as numbers.
 */
export class Lessor {
  readonly #minTtlSeconds: number;
  readonly #leases = new Map<LeaseId, Held>();
  /** All leases except those that `expired` has handed out. */
  #due = new DueHeap<Held>();

  constructor(options: { readonly minTtlSeconds: number }) {
    assert(Number.isSafeInteger(options.minTtlSeconds) && options.minTtlSeconds >= 1, 'minimum TTL is no whole second');
    this.#minTtlSeconds = options.minTtlSeconds;
  }

  get size(): number {
    return this.#leases.size;
  }

  /**
   * The caller has checked that the id is free and not 0, and that the TTL is at most MAX_TTL_SECONDS. A TTL below
   * the minimum (0, -1) is raised.
   */
  grant(id: LeaseId, ttlSeconds: number, nowMs: number): Lease {
    assert(id !== NO_LEASE, 'a lease without an id');
    assert(!this.#leases.has(id), 'granted twice');
    assert(Number.isInteger(ttlSeconds) && ttlSeconds <= MAX_TTL_SECONDS, 'TTL out of bounds');
    const granted = Math.max(ttlSeconds, this.#minTtlSeconds);
    const dueMs = nowMs + granted * 1000;
    const held: Held = {
      id,
      ttlSeconds: granted,
      checkpointSeconds: 0,
      keys: new Set(),
      dueMs,
      slot: -1,
      placedMs: dueMs,
      ended: false,
    };
    this.#leases.set(id, held);
    this.#due.push(held);
    return view(held);
  }

  has(id: LeaseId): boolean {
    return this.#leases.has(id);
  }

  get(id: LeaseId): Lease | undefined {
    const held = this.#leases.get(id);
    return held === undefined ? undefined : view(held);
  }

  /** Removes the lease and the list of its keys. The lease must exist. */
  revoke(id: LeaseId): void {
    const held = this.#held(id);
    this.#leases.delete(id);
    if (held.slot !== -1) this.#due.remove(held);
  }

  /**
   * Gives the lease its whole TTL again, and returns it in seconds. Undefined if the lease is unknown or past its
   * deadline. A lease past its deadline exists until it is revoked (`has`), but cannot be renewed: a client that has
   * seen it end must not see it live on.
   */
  renew(id: LeaseId, nowMs: number): number | undefined {
    const held = this.#leases.get(id);
    if (held === undefined || held.ended || held.dueMs <= nowMs) return undefined;
    held.checkpointSeconds = 0;
    // The deadline never moves earlier: the heap relies on it, and a takeover may have given more than a TTL.
    held.dueMs = Math.max(held.dueMs, nowMs + held.ttlSeconds * 1000);
    return held.ttlSeconds;
  }

  /** 0 if the lease has expired but is not revoked yet. Undefined if it is unknown. */
  remainingMs(id: LeaseId, nowMs: number): number | undefined {
    const held = this.#leases.get(id);
    if (held === undefined) return undefined;
    return held.ended ? 0 : Math.max(0, held.dueMs - nowMs);
  }

  /** The lease's keys in byte order; the caller owns them. Empty for an unknown lease. */
  keys(id: LeaseId): readonly Uint8Array[] {
    const held = this.#leases.get(id);
    return held === undefined ? [] : sorted(held.keys);
  }

  /**
   * The lease's keys in no order, in the form of `keyText`. An iteration includes keys that are attached meanwhile.
   * It may or may not include keys that are detached meanwhile.
   */
  keyTexts(id: LeaseId): Iterable<string> {
    return this.#leases.get(id)?.keys ?? [];
  }

  /** The lease must exist. A key belongs to one lease: a caller that moves it must detach it from the other. */
  attach(id: LeaseId, key: Uint8Array): void {
    this.#held(id).keys.add(keyText(key));
  }

  /** Does nothing if the key is not attached, or if the lease is gone already: its keys are deleted after it. */
  detach(id: LeaseId, key: Uint8Array): void {
    this.#leases.get(id)?.keys.delete(keyText(key));
  }

  /**
   * Returns leases past their deadline, earliest first, at most `max`. Each is handed out once. A caller that cannot
   * revoke one must give it back by `handBack`.
   */
  expired(nowMs: number, max: number): readonly LeaseId[] {
    const ids: LeaseId[] = [];
    while (ids.length < max) {
      const first = this.#due.first();
      if (first === undefined || first.dueMs > nowMs) break;
      this.#due.remove(first);
      first.ended = true;
      ids.push(first.id);
    }
    return ids;
  }

  /**
   * The revoke of a lease that was handed out failed: `expired` offers it again from `retryMs` on. The lease still
   * counts as ended. Does nothing if it is gone or was not handed out.
   */
  handBack(id: LeaseId, retryMs: number): void {
    const held = this.#leases.get(id);
    if (held === undefined || held.slot !== -1) return;
    held.dueMs = retryMs;
    this.#due.push(held);
  }

  /** When `expired` next has a lease to hand out. Undefined if there is none. */
  nextDeadlineMs(): number | undefined {
    return this.#due.first()?.dueMs;
  }

  /**
   * For a start or a takeover. No client could renew while there was no leader, so every lease gets its whole TTL
   * again, or its checkpointed rest, and `extraMs` on top. Leases that were handed out no longer count as handed out.
   */
  extendAll(nowMs: number, extraMs = 0): void {
    const due = new DueHeap<Held>();
    for (const held of this.#leases.values()) {
      const seconds = held.checkpointSeconds > 0 ? held.checkpointSeconds : held.ttlSeconds;
      held.dueMs = nowMs + seconds * 1000 + extraMs;
      held.slot = -1;
      held.ended = false;
      due.push(held);
    }
    this.#due = due;
  }

  /**
   * Notes the remaining time of a lease for the next `extendAll`. 0 removes the note, as a renewal does. Does nothing
   * if the lease is gone.
   */
  checkpoint(id: LeaseId, remainingSeconds: number): void {
    assert(Number.isSafeInteger(remainingSeconds) && remainingSeconds >= 0, 'checkpoint of no whole second');
    const held = this.#leases.get(id);
    if (held !== undefined) held.checkpointSeconds = Math.min(remainingSeconds, held.ttlSeconds);
  }

  /** All ids, sorted by remaining time. */
  list(): readonly LeaseId[] {
    const all = [...this.#leases.values()];
    all.sort((left, right) => Number(right.ended) - Number(left.ended) || left.dueMs - right.dueMs);
    return all.map(({ id }) => id);
  }

  #held(id: LeaseId): Held {
    const held = this.#leases.get(id);
    assert(held !== undefined, 'no such lease');
    return held;
  }
}

function view(held: Held): Lease {
  return {
    id: held.id,
    ttlSeconds: held.ttlSeconds,
    checkpointSeconds: held.checkpointSeconds,
    keyCount: held.keys.size,
  };
}

/** One character is one byte, so texts sort as the bytes do. */
function sorted(keys: ReadonlySet<string>): readonly Uint8Array[] {
  return [...keys].sort().map(keyBytes);
}

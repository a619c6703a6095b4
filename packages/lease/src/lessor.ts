import { assert, keyBytes, keyText, type LeaseId, NO_LEASE } from '@engram/core';
import { DueHeap } from './due-heap.ts';

/** etcd server/lease/lessor.go, MaxLeaseTTL. In milliseconds it is far below 2^53. */
export const MAX_TTL_SECONDS = 9_000_000_000;

/** One lease, as it was at the call. */
export interface Lease {
  readonly id: LeaseId;
  /** As granted: the request, raised to the minimum. */
  readonly ttlSeconds: number;
  /** What `checkpoint` noted of it, 0: nothing. `extendAll` gives this instead of the whole TTL. */
  readonly checkpointSeconds: number;
  readonly keyCount: number;
}

interface Held {
  readonly id: LeaseId;
  readonly ttlSeconds: number;
  checkpointSeconds: number;
  /** In the form of `keyText`. */
  readonly keys: Set<string>;
  /** Its deadline; once it has ended, when `expired` offers it again. */
  dueMs: number;
  slot: number;
  placedMs: number;
  /** `expired` has handed it out: a revoke is under way, so no renewal may succeed any more. */
  ended: boolean;
}

/**
 * All leases of the store, with their keys and deadlines. Every node keeps one, fed by the log; deadlines mean
 * something on the leader alone, from `extendAll` at its takeover on. A lease may live longer than its TTL, never
 * shorter: only `expired` hands out a lease for its end, and only what `revoke` is called for goes.
 *
 * Ids are keys of a Map as the bigints that they are. Measured at 100k leases, that costs as much as any detour by
 * strings or halves, and only ids below 2^53, which clients seldom choose, would be faster as numbers.
 */
export class Lessor {
  readonly #minTtlSeconds: number;
  readonly #leases = new Map<LeaseId, Held>();
  /** All leases but those that `expired` has handed out. */
  #due = new DueHeap<Held>();

  constructor(options: { readonly minTtlSeconds: number }) {
    assert(Number.isSafeInteger(options.minTtlSeconds) && options.minTtlSeconds >= 1, 'minimum TTL is no whole second');
    this.#minTtlSeconds = options.minTtlSeconds;
  }

  get size(): number {
    return this.#leases.size;
  }

  /** The id is free and no 0, the TTL at most MAX_TTL_SECONDS: the caller has checked. Too low a TTL (0, -1) is raised. */
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

  /** Takes the lease away, with what is attached to it. The id must be there. */
  revoke(id: LeaseId): void {
    const held = this.#held(id);
    this.#leases.delete(id);
    if (held.slot !== -1) this.#due.remove(held);
  }

  /**
   * The granted TTL in seconds, which the lease now has again. Undefined: unknown, or past its deadline. Such a lease
   * is still there until it is revoked (`has`), but nothing saves it: what sees it end must not see it live on.
   */
  renew(id: LeaseId, nowMs: number): number | undefined {
    const held = this.#leases.get(id);
    if (held === undefined || held.ended || held.dueMs <= nowMs) return undefined;
    held.checkpointSeconds = 0;
    // Never earlier: the heap relies on it, and a takeover may have given more than a TTL.
    held.dueMs = Math.max(held.dueMs, nowMs + held.ttlSeconds * 1000);
    return held.ttlSeconds;
  }

  /** From 0 (expired, not yet revoked) on; undefined: unknown. */
  remainingMs(id: LeaseId, nowMs: number): number | undefined {
    const held = this.#leases.get(id);
    if (held === undefined) return undefined;
    return held.ended ? 0 : Math.max(0, held.dueMs - nowMs);
  }

  /** In byte order; the caller owns them. Of an unknown lease none. */
  keys(id: LeaseId): readonly Uint8Array[] {
    const held = this.#leases.get(id);
    return held === undefined ? [] : sorted(held.keys);
  }

  /**
   * In no order, and in the form of `keyText`. What is attached while somebody goes through them comes too, what is
   * detached may come or not.
   */
  keyTexts(id: LeaseId): Iterable<string> {
    return this.#leases.get(id)?.keys ?? [];
  }

  /** The lease must be there. A key belongs to one lease: who moves it detaches it from the other. */
  attach(id: LeaseId, key: Uint8Array): void {
    this.#held(id).keys.add(keyText(key));
  }

  /** Nothing where the key is not attached, or the lease is gone already: its keys are deleted after it. */
  detach(id: LeaseId, key: Uint8Array): void {
    this.#leases.get(id)?.keys.delete(keyText(key));
  }

  /**
   * Leases past their deadline, earliest first, at most `max`; each is handed out once. Who cannot revoke one gives it
   * back by `handBack`.
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
   * The revoke of a lease that was handed out failed: `expired` offers it again from `retryMs` on. It has ended all the
   * same. Nothing if it is gone or was not handed out.
   */
  handBack(id: LeaseId, retryMs: number): void {
    const held = this.#leases.get(id);
    if (held === undefined || held.slot !== -1) return;
    held.dueMs = retryMs;
    this.#due.push(held);
  }

  /** When `expired` has something to hand out; undefined: never, as things are. */
  nextDeadlineMs(): number | undefined {
    return this.#due.first()?.dueMs;
  }

  /**
   * At a start or takeover: nobody renewed while there was no leader, so every lease gets its whole TTL again, or its
   * checkpointed rest, and `extraMs` on top. Leases that were handed out count as not handed out.
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

  /** Notes what a lease has left for the next `extendAll`; 0 forgets it, as a renewal does. Nothing if it is gone. */
  checkpoint(id: LeaseId, remainingSeconds: number): void {
    assert(Number.isSafeInteger(remainingSeconds) && remainingSeconds >= 0, 'checkpoint of no whole second');
    const held = this.#leases.get(id);
    if (held !== undefined) held.checkpointSeconds = Math.min(remainingSeconds, held.ttlSeconds);
  }

  /** All ids, by remaining time. */
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

/** One character is one byte, so the order of texts is that of bytes. */
function sorted(keys: ReadonlySet<string>): readonly Uint8Array[] {
  return [...keys].sort().map(keyBytes);
}

import { assert, keyBytes, keyText, type LeaseId, NO_LEASE } from '@engram/core';
import { type PureJob, sorting, type Turn } from '@engram/loop';
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

/** A lease in a list. The list keeps it after its end, and its deadline may move. */
export interface ListedLease {
  readonly id: LeaseId;
  readonly grantedTtlSeconds: number;
  readonly dueMs: number;
  /** `expired` has handed it out. */
  readonly ended: boolean;
}

interface Held extends ListedLease {
  /** Counts grants, so the leases are in the order of their numbers. */
  readonly number: number;
  checkpointSeconds: number;
  /** The attached keys, in the form of `keyText`. */
  readonly keys: Set<string>;
  /** The length of all keys together. */
  keyBytes: number;
  /** The lists of its keys that are being made. Undefined if there are none. */
  keySurveys: Set<KeySurvey> | undefined;
  /** Its deadline. After `handBack`, the time from which `expired` offers it again. */
  dueMs: number;
  slot: number;
  placedMs: number;
  /** `expired` has handed it out: a revoke is under way, so no renewal may succeed any more. */
  ended: boolean;
}

/** A list that is being made in slices. */
interface Survey {
  /** The number of the newest lease that belongs to the list. */
  readonly last: number;
  /** The number of the newest lease that is in the list already. */
  seen: number;
  /** Leases that belong to the list, and were revoked before they were in it. */
  readonly revoked: Held[];
}

/** A list of one lease's keys that is being made in slices. */
interface KeySurvey {
  /** Keys that were attached since it began: they are not in the list. */
  readonly attached: Set<string>;
  /** Keys that were detached since, and belong to the list. They may be in it already. */
  readonly detached: string[];
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
  readonly #surveys = new Set<Survey>();
  #granted = 0;
  #revoked = 0;

  constructor(options: { readonly minTtlSeconds: number }) {
    assert(Number.isSafeInteger(options.minTtlSeconds) && options.minTtlSeconds >= 1, 'minimum TTL is no whole second');
    this.#minTtlSeconds = options.minTtlSeconds;
  }

  get size(): number {
    return this.#leases.size;
  }

  /** Differs whenever there are other leases. */
  get generation(): number {
    return this.#granted + this.#revoked;
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
    this.#granted += 1;
    const held: Held = {
      id,
      number: this.#granted,
      grantedTtlSeconds: granted,
      checkpointSeconds: 0,
      keys: new Set(),
      keyBytes: 0,
      keySurveys: undefined,
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

  /** The same object for as long as the lease lives, and another one when its id is granted again. Undefined for an unknown lease. */
  grantOf(id: LeaseId): object | undefined {
    return this.#leases.get(id);
  }

  get(id: LeaseId): Lease | undefined {
    const held = this.#leases.get(id);
    return held === undefined ? undefined : view(held);
  }

  /** Removes the lease and the list of its keys. The lease must exist. */
  revoke(id: LeaseId): void {
    const held = this.#held(id);
    this.#leases.delete(id);
    this.#revoked += 1;
    for (const survey of this.#surveys) {
      if (held.number > survey.seen && held.number <= survey.last) survey.revoked.push(held);
    }
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
    held.dueMs = Math.max(held.dueMs, nowMs + held.grantedTtlSeconds * 1000);
    return held.grantedTtlSeconds;
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
    const held = this.#held(id);
    const text = keyText(key);
    const { size } = held.keys;
    held.keys.add(text);
    if (held.keys.size === size) return;
    held.keyBytes += key.length;
    if (held.keySurveys !== undefined) for (const { attached } of held.keySurveys) attached.add(text);
  }

  /** Does nothing if the key is not attached, or if the lease is gone already: its keys are deleted after it. */
  detach(id: LeaseId, key: Uint8Array): void {
    const held = this.#leases.get(id);
    const text = keyText(key);
    if (held === undefined || !held.keys.delete(text)) return;
    held.keyBytes -= key.length;
    if (held.keySurveys === undefined) return;
    for (const { attached, detached } of held.keySurveys) if (!attached.delete(text)) detached.push(text);
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
      const seconds = held.checkpointSeconds > 0 ? held.checkpointSeconds : held.grantedTtlSeconds;
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
    if (held !== undefined) held.checkpointSeconds = Math.min(remainingSeconds, held.grantedTtlSeconds);
  }

  /** The leases at the time of the first step, in no order. Some may have been revoked since. */
  *list(turn: Turn): PureJob<readonly ListedLease[]> {
    const survey: Survey = { last: this.#granted, seen: 0, revoked: [] };
    this.#surveys.add(survey);
    try {
      const listed: ListedLease[] = [];
      // In the order of the grants. A lease that is granted meanwhile comes last.
      for (const held of this.#leases.values()) {
        if (held.number > survey.last) break;
        listed.push(held);
        survey.seen = held.number;
        if (turn.shouldYield()) yield;
      }
      for (const held of survey.revoked) {
        listed.push(held);
        if (turn.shouldYield()) yield;
      }
      return listed;
    } finally {
      this.#surveys.delete(survey);
    }
  }

  /** As `list`, in the order of the ids as unsigned numbers. */
  *listById(turn: Turn): PureJob<readonly ListedLease[]> {
    return yield* sorting(yield* this.list(turn), compareIds, turn);
  }

  /** As `list`, sorted by the time that remains at the end of the first part: those that have ended come first. */
  *listByRemaining(turn: Turn): PureJob<readonly ListedLease[]> {
    const listed = yield* this.list(turn);
    const due = new Float64Array(listed.length);
    const order: number[] = [];
    for (const { dueMs, ended } of listed) {
      // What was handed out was due before everything else.
      due[order.length] = ended ? Number.NEGATIVE_INFINITY : dueMs;
      order.push(order.length);
      if (turn.shouldYield()) yield;
    }
    const later = (left: number, right: number): number =>
      due[left]! < due[right]! ? -1 : due[left]! > due[right]! ? 1 : 0;
    const sorted: ListedLease[] = [];
    for (const at of yield* sorting(order, later, turn)) {
      sorted.push(listed[at]!);
      if (turn.shouldYield()) yield;
    }
    return sorted;
  }

  /**
   * The keys of a lease at the time of the first step, in byte order and in the form of `keyText`. Empty for an unknown
   * lease.
   */
  *listKeys(id: LeaseId, turn: Turn): PureJob<readonly string[]> {
    const held = this.#leases.get(id);
    if (held === undefined) return [];
    const survey: KeySurvey = { attached: new Set(), detached: [] };
    held.keySurveys ??= new Set();
    held.keySurveys.add(survey);
    const texts: string[] = [];
    try {
      for (const text of held.keys) {
        if (!survey.attached.has(text)) texts.push(text);
        if (turn.shouldYield()) yield;
      }
    } finally {
      held.keySurveys.delete(survey);
      if (held.keySurveys.size === 0) held.keySurveys = undefined;
    }
    for (const text of survey.detached) texts.push(text);
    const sorted = yield* sorting(texts, compareTexts, turn);
    return survey.detached.length === 0 ? sorted : yield* withoutRepeats(sorted, turn);
  }

  /** The number of a lease's keys and their length together. */
  keySizes(id: LeaseId): { readonly count: number; readonly bytes: number } {
    const held = this.#leases.get(id);
    return held === undefined ? { count: 0, bytes: 0 } : { count: held.keys.size, bytes: held.keyBytes };
  }

  #held(id: LeaseId): Held {
    const held = this.#leases.get(id);
    assert(held !== undefined, 'no such lease');
    return held;
  }
}

function* withoutRepeats(sorted: readonly string[], turn: Turn): PureJob<readonly string[]> {
  const once: string[] = [];
  for (const text of sorted) {
    if (text !== once.at(-1)) once.push(text);
    if (turn.shouldYield()) yield;
  }
  return once;
}

/** One character is one byte, so texts sort as the bytes do. */
const compareTexts = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** A negative id is that of a number of 64 bits above all others. */
function compareIds({ id: left }: ListedLease, { id: right }: ListedLease): number {
  if (left < 0n !== right < 0n) return left < 0n ? 1 : -1;
  return left < right ? -1 : left > right ? 1 : 0;
}

function view(held: Held): Lease {
  return {
    id: held.id,
    ttlSeconds: held.grantedTtlSeconds,
    checkpointSeconds: held.checkpointSeconds,
    keyCount: held.keys.size,
  };
}

/** One character is one byte, so texts sort as the bytes do. */
function sorted(keys: ReadonlySet<string>): readonly Uint8Array[] {
  return [...keys].sort().map(keyBytes);
}

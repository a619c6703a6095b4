import type { StoreHistory } from '@engram/sim/model';
import { expectThat } from './finding.ts';

/** The times, on the leader's clock, between which a lease may end. */
interface Deadline {
  /** The lease must not end before this time. */
  earliestMs: number;
  /** No renewal may succeed after this time; infinite if it is unknown. */
  latestMs: number;
  /** True while a renewal with an unknown outcome may still happen. `latestMs` is not known until the next takeover. */
  isOpen: boolean;
  /** The value of `earliestMs` before each renewal, and the time until which it was valid. */
  readonly before: { readonly untilMs: number; readonly earliestMs: number }[];
}

/** The rates of the slowest and the fastest leader's clock, relative to the clock of the times here. */
export interface ClockRates {
  readonly slow: number;
  readonly fast: number;
}

export const EXACT: ClockRates = { slow: 1, fast: 1 };

/** Rounding error of clocks that run too fast or too slow. */
const SLACK_MS = 1e-3;

/**
 * Judges when leases end. A lease must not end before its TTL has passed since the last acknowledged renewal. After its
 * TTL has passed, no renewal may succeed. Times are those of the leader's clock.
 */
export class LeaseJudge {
  readonly #history: StoreHistory;
  readonly #rates: ClockRates;
  /** By the position of the grant, because an id may be granted again. */
  readonly #deadlines = new Map<number, Deadline>();
  /** Renewals without an answer, by lease. */
  readonly #underWay = new Map<bigint, number>();
  /**
   * Lease ids with a renewal of unknown outcome. It may renew any lease that has the id by then: until the next takeover,
   * if it is on its way to this leader, and until this time, if a member passes it on to the next one.
   */
  readonly #loose = new Map<bigint, number>();

  constructor(history: StoreHistory, rates: ClockRates = EXACT) {
    this.#history = history;
    this.#rates = rates;
  }

  /** The grant is in the log. It was requested at `fromMs` or later. */
  granted(id: bigint, granted: number, ttlSeconds: number, fromMs: number): void {
    const earliestMs = fromMs + (ttlSeconds * 1000) / this.#rates.fast;
    const isOpen = this.#loose.has(id);
    this.#deadlines.set(granted, { earliestMs, latestMs: Number.POSITIVE_INFINITY, isOpen, before: [] });
  }

  /** A takeover gives every lease its full TTL again. */
  takenOver(beginMs: number, endMs: number): void {
    for (const [id, untilMs] of this.#loose) if (untilMs < beginMs) this.#loose.delete(id);
    for (const { id, granted, ttlSeconds } of this.#history.leasesAt(this.#history.next)) {
      const ttlMs = ttlSeconds * 1000;
      const { slow, fast } = this.#rates;
      const known = this.#deadlines.get(granted);
      const earlierMs = known?.earliestMs ?? 0;
      const earliestMs = Math.max(earlierMs, beginMs + ttlMs / fast);
      const before = [...(known?.before ?? []), { untilMs: endMs, earliestMs: earlierMs }];
      const isOpen = this.#loose.has(id);
      const latestMs = isOpen ? Number.POSITIVE_INFINITY : endMs + ttlMs / slow;
      this.#deadlines.set(granted, { earliestMs, latestMs, isOpen, before });
    }
  }

  /** A client sends a renewal. The caller must call the returned function when the outcome is known. */
  renewing(id: bigint): () => void {
    this.#underWay.set(id, (this.#underWay.get(id) ?? 0) + 1);
    return () => void this.#underWay.set(id, (this.#underWay.get(id) ?? 1) - 1);
  }

  /** Infinite while a renewal is under way, which may have happened or may still happen. */
  #latestMs(id: bigint, deadline: Deadline): number {
    return (this.#underWay.get(id) ?? 0) > 0 ? Number.POSITIVE_INFINITY : deadline.latestMs;
  }

  /** The grant has been answered. */
  answered(id: bigint, position: number, nowMs: number): void {
    this.#extend(id, position, undefined, nowMs);
  }

  /**
   * A renewal that was sent at `fromMs` has been acknowledged. Copies of it, which a member has sent before the one that was
   * answered, may take effect until `copiesUntilMs`. The lease lives longer then than its client knows, and that is no fault.
   */
  renewed(id: bigint, position: number, fromMs: number, nowMs: number, copiesUntilMs = nowMs): void {
    const span = this.#history.leaseAt(id, position);
    const deadline = span && this.#deadlines.get(span.granted);
    if (deadline === undefined) return;
    expectThat(
      fromMs <= this.#latestMs(id, deadline) + SLACK_MS,
      'lease',
      () => `lease ${id} was renewed at ${fromMs.toFixed(3)}, and its time was over at ${deadline.latestMs.toFixed(3)}`,
    );
    this.#extend(id, position, fromMs, nowMs, copiesUntilMs);
  }

  #extend(id: bigint, position: number, fromMs: number | undefined, nowMs: number, copiesUntilMs = nowMs): void {
    const span = this.#history.leaseAt(id, position);
    const deadline = span && this.#deadlines.get(span.granted);
    if (span === undefined || deadline === undefined) return;
    const ttlMs = span.ttlSeconds * 1000;
    const { slow, fast } = this.#rates;
    if (fromMs !== undefined) {
      deadline.before.push({ untilMs: nowMs, earliestMs: deadline.earliestMs });
      deadline.earliestMs = Math.max(deadline.earliestMs, fromMs + ttlMs / fast);
    }
    if (deadline.isOpen) return;
    const latestMs = copiesUntilMs + ttlMs / slow;
    deadline.latestMs =
      deadline.latestMs === Number.POSITIVE_INFINITY ? latestMs : Math.max(deadline.latestMs, latestMs);
  }

  /** A renewal has an unknown outcome. A takeover before `untilMs` does not end it. */
  maybeRenewed(id: bigint, position: number, untilMs = Number.NEGATIVE_INFINITY): void {
    this.#loose.set(id, Math.max(untilMs, this.#loose.get(id) ?? untilMs));
    const span = this.#history.leaseAt(id, position);
    const deadline = span && this.#deadlines.get(span.granted);
    if (deadline === undefined) return;
    deadline.latestMs = Number.POSITIVE_INFINITY;
    deadline.isOpen = true;
  }

  /** Whether a revoke that was sent to the log at `nowMs` came before the lease's TTL had passed. */
  isEarly(granted: number, nowMs: number): boolean {
    return nowMs < this.#earliestMs(granted) - SLACK_MS;
  }

  /** Judges a revoke that no client requested. */
  expired(granted: number, id: bigint, nowMs: number): void {
    expectThat(
      !this.isEarly(granted, nowMs),
      'lease',
      () => `lease ${id} ended at ${nowMs.toFixed(3)}, and not after ${this.#earliestMs(granted).toFixed(3)}`,
    );
  }

  #earliestMs(granted: number): number {
    return this.#deadlines.get(granted)?.earliestMs ?? 0;
  }

  /** The bounds of the remaining TTL in an answer to a request at `fromMs` that was answered at `nowMs`. */
  remaining(
    id: bigint,
    granted: number,
    fromMs: number,
    nowMs: number,
  ): readonly [leastSeconds: number, mostSeconds: number] {
    const deadline = this.#deadlines.get(granted);
    if (deadline === undefined) return [0, Number.POSITIVE_INFINITY];
    const seconds = (ms: number): number => Math.floor(Math.max(0, ms) / 1000);
    const { slow, fast } = this.#rates;
    // The leader may have read the lease before a renewal that was answered meanwhile.
    const earliestMs = deadline.before.find(({ untilMs }) => untilMs >= fromMs)?.earliestMs ?? deadline.earliestMs;
    return [
      seconds((earliestMs - nowMs) * slow - SLACK_MS),
      seconds((this.#latestMs(id, deadline) - fromMs) * fast + SLACK_MS),
    ];
  }

  /** The time at which all current leases with a shorter TTL have ended, if no client renews them. */
  lastDeadlineMs(ttlSecondsMax: number): number {
    const ends = this.#history
      .leasesAt(this.#history.next)
      .filter(({ ttlSeconds }) => ttlSeconds < ttlSecondsMax)
      .map(({ granted }) => this.#deadlines.get(granted)?.latestMs ?? 0)
      .filter((ms) => ms !== Number.POSITIVE_INFINITY);
    return Math.max(0, ...ends);
  }
}

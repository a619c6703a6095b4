import type { StoreHistory } from '@engram/sim/model';
import { expectThat } from './finding.ts';

/** Between which times, on the leader's clock, a lease may end. */
interface Deadline {
  /** It may not have ended before. */
  earliestMs: number;
  /** Nothing may renew it after; infinite where nobody knows. */
  latestMs: number;
}

/** Rounding of clocks that run too fast or too slow. */
const SLACK_MS = 1e-3;

/**
 * When leases end: never before their time, counted from the last renewal that was acknowledged, and once their time has
 * passed nothing brings them back. Times are those of the leader's clock.
 */
export class LeaseJudge {
  readonly #history: StoreHistory;
  /** By the position of the grant: an id may be granted again. */
  readonly #deadlines = new Map<number, Deadline>();

  constructor(history: StoreHistory) {
    this.#history = history;
  }

  /** The grant is in the log; it was asked for at `fromMs` or later. */
  granted(granted: number, ttlSeconds: number, fromMs: number): void {
    this.#deadlines.set(granted, { earliestMs: fromMs + ttlSeconds * 1000, latestMs: Number.POSITIVE_INFINITY });
  }

  /** A takeover gives every lease its whole time again. */
  takenOver(beginMs: number, endMs: number): void {
    for (const { granted, ttlSeconds } of this.#history.leasesAt(this.#history.next)) {
      const ttlMs = ttlSeconds * 1000;
      this.#deadlines.set(granted, { earliestMs: beginMs + ttlMs, latestMs: endMs + ttlMs });
    }
  }

  /** The grant has been answered. */
  answered(id: bigint, position: number, nowMs: number): void {
    this.#extend(id, position, undefined, nowMs);
  }

  /** A renewal that was asked for at `fromMs` has been acknowledged. */
  renewed(id: bigint, position: number, fromMs: number, nowMs: number): void {
    const span = this.#history.leaseAt(id, position);
    const deadline = span && this.#deadlines.get(span.granted);
    if (deadline === undefined) return;
    expectThat(
      fromMs <= deadline.latestMs + SLACK_MS,
      'lease',
      () => `lease ${id} was renewed at ${fromMs.toFixed(3)}, and its time was over at ${deadline.latestMs.toFixed(3)}`,
    );
    this.#extend(id, position, fromMs, nowMs);
  }

  #extend(id: bigint, position: number, fromMs: number | undefined, nowMs: number): void {
    const span = this.#history.leaseAt(id, position);
    const deadline = span && this.#deadlines.get(span.granted);
    if (span === undefined || deadline === undefined) return;
    const ttlMs = span.ttlSeconds * 1000;
    if (fromMs !== undefined) deadline.earliestMs = Math.max(deadline.earliestMs, fromMs + ttlMs);
    deadline.latestMs =
      deadline.latestMs === Number.POSITIVE_INFINITY ? nowMs + ttlMs : Math.max(deadline.latestMs, nowMs + ttlMs);
  }

  /** A renewal may have happened, and nobody was told. */
  maybeRenewed(id: bigint, position: number): void {
    const span = this.#history.leaseAt(id, position);
    const deadline = span && this.#deadlines.get(span.granted);
    if (deadline !== undefined) deadline.latestMs = Number.POSITIVE_INFINITY;
  }

  /** Whether a revoke that left for the log at `nowMs` came before the lease's time was over. */
  isEarly(granted: number, nowMs: number): boolean {
    return nowMs < this.#earliestMs(granted) - SLACK_MS;
  }

  /** A revoke that no client asked for. */
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

  /** What a lease that was asked for between two times may have left. */
  remaining(granted: number, fromMs: number, nowMs: number): readonly [leastSeconds: number, mostSeconds: number] {
    const deadline = this.#deadlines.get(granted);
    if (deadline === undefined) return [0, Number.POSITIVE_INFINITY];
    const seconds = (ms: number): number => Math.floor(Math.max(0, ms) / 1000);
    return [seconds(deadline.earliestMs - nowMs - SLACK_MS), seconds(deadline.latestMs - fromMs + SLACK_MS)];
  }

  /** When all that is there now has ended, if nobody renews it. */
  lastDeadlineMs(): number {
    const ends = this.#history
      .leasesAt(this.#history.next)
      .map(({ granted }) => this.#deadlines.get(granted)?.latestMs ?? 0)
      .filter((ms) => ms !== Number.POSITIVE_INFINITY);
    return Math.max(0, ...ends);
  }
}

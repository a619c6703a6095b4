import { type BackoffKind, type BackoffName, backoffKinds } from './backoff-kinds.ts';

/** What the operation does after a failure. */
export type BackoffStep =
  | { readonly kind: 'sleep'; readonly delayMs: number }
  /** `longest`: the kind that slept longest. Its error explains the failure best. */
  | { readonly kind: 'exhausted'; readonly longest: BackoffName };

/**
 * Limits the sum of the sleeps of one operation and calculates the next sleep. Each kind counts its own attempts. Only sleeps
 * count: the requests between them have deadlines of their own. Pure: it uses no clock and no random source.
 */
export class BackoffBudget {
  readonly #budgetMs: number;
  readonly #attempts = new Map<BackoffName, number>();
  readonly #sleptMs = new Map<BackoffName, number>();
  #countedMs = 0;

  constructor(budgetMs: number) {
    this.#budgetMs = budgetMs;
  }

  attempts(name: BackoffName): number {
    return this.#attempts.get(name) ?? 0;
  }

  /**
   * @param chance uniform in [0, 1)
   * @param bounds `atLeastMs`: the delay that a server asked for; `atMostMs`: the time after which waiting has no use
   */
  next(name: BackoffName, chance: number, bounds: { atLeastMs?: number; atMostMs?: number } = {}): BackoffStep {
    const kind: BackoffKind = backoffKinds[name];
    const attempt = this.attempts(name);
    this.#attempts.set(name, attempt + 1);
    if (kind.counted && this.#countedMs >= this.#budgetMs) return { kind: 'exhausted', longest: this.#longest(name) };
    const full = Math.min(kind.capMs, kind.baseMs * 2 ** Math.min(attempt, 30));
    const jittered = kind.jitter === 'none' ? full : full / 2 + (full / 2) * chance;
    const delayMs = Math.min(bounds.atMostMs ?? Number.POSITIVE_INFINITY, Math.max(jittered, bounds.atLeastMs ?? 0));
    this.#sleptMs.set(name, (this.#sleptMs.get(name) ?? 0) + delayMs);
    if (kind.counted) this.#countedMs += delayMs;
    return { kind: 'sleep', delayMs };
  }

  #longest(last: BackoffName): BackoffName {
    let longest = last;
    for (const [name, sleptMs] of this.#sleptMs) {
      if (sleptMs > (this.#sleptMs.get(longest) ?? 0)) longest = name;
    }
    return longest;
  }
}

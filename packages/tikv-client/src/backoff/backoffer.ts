import type { Random } from '@engram/core';
import { TikvError } from '../errors.ts';
import type { Observer } from '../observer.ts';
import type { Call } from '../runtime/call.ts';
import { BackoffBudget } from './backoff-budget.ts';
import type { BackoffName } from './backoff-kinds.ts';

/** The backoff budget of one operation and the call that the operation runs for. */
export class Backoffer {
  readonly call: Call;
  readonly #budget: BackoffBudget;
  readonly #random: Random;
  readonly #observer: Observer;
  readonly #causes = new Map<BackoffName, unknown>();

  constructor(call: Call, budgetMs: number, random: Random, observer: Observer) {
    this.call = call;
    this.#budget = new BackoffBudget(budgetMs);
    this.#random = random;
    this.#observer = observer;
  }

  attempts(name: BackoffName): number {
    return this.#budget.attempts(name);
  }

  /** Sleeps. Rejects with `backoff-exhausted`, or when the call ends. `cause`: why the operation must wait. */
  async wait(name: BackoffName, cause: unknown, bounds?: { atLeastMs?: number; atMostMs?: number }): Promise<void> {
    this.#causes.set(name, cause);
    const step = this.#budget.next(name, this.#random.uint32() / 2 ** 32, bounds);
    if (step.kind === 'exhausted') {
      const longest = this.#causes.get(step.longest);
      throw new TikvError('backoff-exhausted', `mostly ${step.longest}: ${textOf(longest)}`, { cause: longest });
    }
    this.#observer.backoff?.(name, step.delayMs);
    await this.call.sleep(step.delayMs, cause);
  }
}

const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

import { assert } from './assert.ts';

export interface SharedBudgetOptions {
  /** What all holders together should not exceed, in bytes, streams or connections. */
  readonly max: number;
  /**
   * Nobody may hold more than `greed` times what is free for everybody. With 1, a lone holder gets half of the budget
   * and two get a third each. With 4, a lone holder gets four fifths.
   */
  readonly greed: number;
  /** What everybody may always hold. Small enough that it can be given to every possible holder. */
  readonly floor: number;
}

/**
 * A bound that many share, by dynamic thresholds, as switches share their buffers (Choudhury and Hahne, 1998): what one
 * may hold follows from what is free. Whoever holds much meets the bound first, long before others do.
 *
 * Holders report what they hold and ask before they take more. One step beyond the bound is possible, two are not. A
 * holder that was refused asks again when it holds less. That moment always comes: only who holds more than the floor
 * is refused.
 */
export class SharedBudget {
  readonly max: number;
  readonly #greed: number;
  readonly #floor: number;
  #used = 0;
  #refusals = 0;

  constructor({ max, greed, floor }: SharedBudgetOptions) {
    assert(max > 0 && greed > 0 && floor >= 0, 'a budget of nothing');
    this.max = max;
    this.#greed = greed;
    this.#floor = floor;
  }

  /** What all holders hold together. */
  get used(): number {
    return this.#used;
  }

  /** How often somebody was refused. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Call it where somebody is refused because of this budget, or has to wait. */
  refused(): void {
    this.#refusals += 1;
  }

  /** A new holder. It holds nothing yet. */
  share(): Share {
    return new Share(this);
  }

  /** Whether a holder of `held` may take more. */
  mayGrow(held: number): boolean {
    return held < this.#floor || held < this.#greed * (this.max - this.#used);
  }

  /** For Share only. */
  move(change: number): void {
    this.#used += change;
    assert(this.#used >= 0, 'more was given back than taken');
  }
}

/** What one holder holds of a budget. */
export class Share {
  readonly #budget: SharedBudget;
  #held = 0;
  #ended = false;

  constructor(budget: SharedBudget) {
    this.#budget = budget;
  }

  get held(): number {
    return this.#held;
  }

  /** Reports what is held now. Ignored after `end`. */
  hold(amount: number): void {
    if (amount === this.#held || this.#ended) return;
    const change = amount - this.#held;
    this.#held = amount;
    this.#budget.move(change);
  }

  /** Whether more may be held. */
  get mayGrow(): boolean {
    return this.#budget.mayGrow(this.#held);
  }

  refused(): void {
    this.#budget.refused();
  }

  /** Gives everything back. */
  end(): void {
    this.hold(0);
    this.#ended = true;
  }
}

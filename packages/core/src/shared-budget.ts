import { assert } from './assert.ts';

export interface SharedBudgetOptions {
  /** The bound for all holders together, in bytes, streams or connections. */
  readonly max: number;
  /**
   * One holder may hold at most `greed` times the free part of the budget. With 1, a lone holder gets half of the
   * budget and two holders get a third each. With 4, a lone holder gets four fifths.
   */
  readonly greed: number;
  /** The amount that every holder may always hold. Small enough that every possible holder can have it. */
  readonly floor: number;
}

/**
 * A bound that many holders share by dynamic thresholds, as switches share their buffers (Choudhury and Hahne, 1998):
 * the bound of one holder follows from the free part. A holder of much meets its bound long before the others do.
 *
 * Holders report what they hold and ask before they take more. A holder can exceed the bound by one step, not by two. A
 * refused holder asks again when it holds less. That moment always comes, because only a holder above the floor is
 * refused.
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

  /** The sum over all holders. */
  get used(): number {
    return this.#used;
  }

  /** The number of refusals. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Call it when a holder is refused or has to wait because of this budget. */
  refused(): void {
    this.#refusals += 1;
  }

  /** A new holder, which holds nothing yet. */
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

/** The part of a budget that one holder has. */
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

  /** Reports the amount held now. Ignored after `end`. */
  hold(amount: number): void {
    if (amount === this.#held || this.#ended) return;
    const change = amount - this.#held;
    this.#held = amount;
    this.#budget.move(change);
  }

  /** Whether the holder may take more. */
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

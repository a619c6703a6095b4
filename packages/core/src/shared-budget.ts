import { assert } from './assert.ts';

export interface SharedBudgetOptions {
  /** What all holders together should not exceed: bytes, streams, connections. */
  readonly max: number;
  /**
   * Nobody may hold more than so many times what is free for everybody. With 1 a lone holder gets half of it all, two get a
   * third each, and there is always something left for who comes next; with 4 a lone one gets four fifths.
   */
  readonly greed: number;
  /** What everybody may hold in any case: small enough for all that there can be. */
  readonly floor: number;
}

/**
 * A bound that many share, by dynamic thresholds, as switches share their buffers (Choudhury and Hahne, 1998): what one
 * may hold follows from what is free. So whoever holds much meets the bound alone, and long before it is met by others.
 *
 * Holders tell what they hold, and are asked to look whether they may before they take more: one step beyond the bound
 * is possible, two are not. Whoever is refused looks again when it holds less: it holds at least the floor, or it would
 * not have been refused, so that moment comes by itself.
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

  /** What all hold. */
  get used(): number {
    return this.#used;
  }

  /** How often its end was met. */
  get refusals(): number {
    return this.#refusals;
  }

  /** To be called where somebody is refused for it, or made to wait. */
  refused(): void {
    this.#refusals += 1;
  }

  /** A holder, which has nothing yet. */
  share(): Share {
    return new Share(this);
  }

  /** Whether somebody who holds `held` of it may take more. */
  mayGrow(held: number): boolean {
    return held < this.#floor || held < this.#greed * (this.max - this.#used);
  }

  /** The share's own. */
  move(change: number): void {
    this.#used += change;
    assert(this.#used >= 0, 'more was given back than taken');
  }
}

/** What one holder has of a budget. */
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

  /** What is held now. Nothing counts behind `end`. */
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

  /** All is given back. */
  end(): void {
    this.hold(0);
    this.#ended = true;
  }
}

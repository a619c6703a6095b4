import type { Share, SharedBudget } from './shared-budget.ts';

/** What each holder, such as an address or a connection, has of a budget, one at a time. The holder of most is refused first. */
export class HolderShares<Holder> {
  readonly #budget: SharedBudget;
  readonly #shares = new Map<Holder, Share>();

  constructor(budget: SharedBudget) {
    this.#budget = budget;
  }

  /** False if this holder may not have another one. */
  enter(holder: Holder): boolean {
    const share = this.#shares.get(holder) ?? this.#budget.share();
    if (!share.mayGrow) {
      share.refused();
      return false;
    }
    share.hold(share.held + 1);
    this.#shares.set(holder, share);
    return true;
  }

  /** Must be called once for each `enter` that returned true. */
  leave(holder: Holder): void {
    const share = this.#shares.get(holder)!;
    share.hold(share.held - 1);
    if (share.held === 0) this.#shares.delete(holder);
  }
}

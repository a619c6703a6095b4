import type { Share, SharedBudget } from '@engram/core';

/** The connections of each client address. The address with the most connections is refused first. */
export class PeerShares {
  readonly #budget: SharedBudget;
  readonly #shares = new Map<string, Share>();

  constructor(budget: SharedBudget) {
    this.#budget = budget;
  }

  /** False if this host may not open another connection. */
  enter(host: string): boolean {
    const share = this.#shares.get(host) ?? this.#budget.share();
    if (!share.mayGrow) {
      share.refused();
      return false;
    }
    share.hold(share.held + 1);
    this.#shares.set(host, share);
    return true;
  }

  /** Must be called once for each `enter` that returned true. */
  leave(host: string): void {
    const share = this.#shares.get(host)!;
    share.hold(share.held - 1);
    if (share.held === 0) this.#shares.delete(host);
  }
}

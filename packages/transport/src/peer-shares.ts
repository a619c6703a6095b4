import type { Share, SharedBudget } from '@engram/core';

/** The connections of each client's address: the one that has the most is the first that gets no more. */
export class PeerShares {
  readonly #budget: SharedBudget;
  readonly #shares = new Map<string, Share>();

  constructor(budget: SharedBudget) {
    this.#budget = budget;
  }

  /** False: there is no room for one more connection of this host. */
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

  /** For each host that entered. */
  leave(host: string): void {
    const share = this.#shares.get(host)!;
    share.hold(share.held - 1);
    if (share.held === 0) this.#shares.delete(host);
  }
}

import { type Share, SharedBudget } from '@engram/core';
import type { CallContext } from '@engram/wire';

export type HashClient = Pick<CallContext, 'client' | 'peer'>;

/**
 * Who waits for hashes. A connection may take no more places than are free, an address four times as many, as of connections: who
 * knows the name of a user must not keep everybody else from logging in.
 */
export class HashPlaces {
  readonly #ofConnections: PlacesBy<object | string>;
  readonly #ofAddresses: PlacesBy<string>;

  constructor(max: number) {
    this.#ofConnections = new PlacesBy(new SharedBudget({ max, greed: 1, floor: 0 }));
    this.#ofAddresses = new PlacesBy(new SharedBudget({ max, greed: 4, floor: 0 }));
  }

  /** False if the client has to come back later. */
  enter({ client, peer }: HashClient): boolean {
    const address = addressOf(peer);
    if (!this.#ofConnections.hasRoom(client) || !this.#ofAddresses.hasRoom(address)) return false;
    this.#ofConnections.add(client, 1);
    this.#ofAddresses.add(address, 1);
    return true;
  }

  /** Must be called once for each `enter` that returned true. */
  leave({ client, peer }: HashClient): void {
    this.#ofConnections.add(client, -1);
    this.#ofAddresses.add(addressOf(peer), -1);
  }
}

class PlacesBy<Holder> {
  readonly #budget: SharedBudget;
  readonly #shares = new Map<Holder, Share>();

  constructor(budget: SharedBudget) {
    this.#budget = budget;
  }

  hasRoom(holder: Holder): boolean {
    return this.#budget.mayGrow(this.#shares.get(holder)?.held ?? 0);
  }

  add(holder: Holder, places: number): void {
    const share = this.#shares.get(holder) ?? this.#budget.share();
    share.hold(share.held + places);
    if (share.held === 0) this.#shares.delete(holder);
    else this.#shares.set(holder, share);
  }
}

/** Without the port. The path of a socket has none. */
function addressOf(peer: string): string {
  return peer.replace(/:\d+$/, '');
}

import { addressShare, HolderShares, SharedBudget } from '@engram/core';
import type { CallContext } from '@engram/wire';

export type HashClient = Pick<CallContext, 'client' | 'peer'>;

/**
 * Who waits for hashes. A connection may take no more places than are free, an address four times as many, as of connections: who
 * knows the name of a user must not keep everybody else from logging in.
 */
export class HashPlaces {
  readonly #ofConnections: HolderShares<object | string>;
  readonly #ofAddresses: HolderShares<string>;

  constructor(max: number) {
    this.#ofConnections = new HolderShares(new SharedBudget({ max, greed: 1, floor: 0 }));
    this.#ofAddresses = new HolderShares(new SharedBudget({ max, greed: 4, floor: 0 }));
  }

  /** False if the client has to come back later. */
  enter({ client, peer }: HashClient): boolean {
    if (!this.#ofConnections.enter(client)) return false;
    if (this.#ofAddresses.enter(addressOf(peer))) return true;
    this.#ofConnections.leave(client);
    return false;
  }

  /** Must be called once for each `enter` that returned true. */
  leave({ client, peer }: HashClient): void {
    this.#ofConnections.leave(client);
    this.#ofAddresses.leave(addressOf(peer));
  }
}

/** Without the port, which the path of a socket has not. An IPv6 address is in brackets. */
function addressOf(peer: string): string {
  const host = peer.replace(/:\d+$/, '');
  return host.startsWith('[') ? addressShare(host.slice(1, -1)) : host;
}

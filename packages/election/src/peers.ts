import type { MemberId } from './member.ts';

interface Peer {
  /** In ticks, with those that were missed. Undefined: not connected. */
  connectedSinceTick: number | undefined;
  heardTick: number;
  storageHealthy: boolean;
}

/** What this member knows of the others' processes: connections, as its transport sees them, and what they last said. */
export class Peers {
  readonly #peers = new Map<MemberId, Peer>();
  #tick = 0;
  #missedTicks = 0;

  tick(): void {
    this.#tick += 1;
  }

  /** Time for so many ticks has passed without them. A connection has grown older in it; nobody was silent. */
  missed(ticks: number): void {
    this.#missedTicks += ticks;
  }

  /** It is no member any more. */
  forget(id: MemberId): void {
    this.#peers.delete(id);
  }

  connected(id: MemberId): void {
    this.#of(id).connectedSinceTick ??= this.#tick + this.#missedTicks;
  }

  disconnected(id: MemberId): void {
    this.#of(id).connectedSinceTick = undefined;
  }

  heard(id: MemberId, storageHealthy: boolean): void {
    const peer = this.#of(id);
    peer.heardTick = this.#tick;
    peer.storageHealthy = storageHealthy;
  }

  get connectedIds(): readonly MemberId[] {
    return [...this.#peers].filter(([, peer]) => peer.connectedSinceTick !== undefined).map(([id]) => id);
  }

  /** Ticks without a break, with those that were missed; -1: not connected. */
  connectedTicks(id: MemberId): number {
    const since = this.#peers.get(id)?.connectedSinceTick;
    return since === undefined ? -1 : this.#tick + this.#missedTicks - since;
  }

  /** Since it was heard last, of those that were not missed. */
  silentTicks(id: MemberId): number {
    return this.#tick - (this.#peers.get(id)?.heardTick ?? Number.NEGATIVE_INFINITY);
  }

  /** It said so within the last `ticks`; silence is no health. */
  hasHealthyStorage(id: MemberId, ticks: number): boolean {
    const peer = this.#peers.get(id);
    return peer?.storageHealthy === true && this.#tick - peer.heardTick <= ticks;
  }

  #of(id: MemberId): Peer {
    let peer = this.#peers.get(id);
    if (peer === undefined) {
      peer = { connectedSinceTick: undefined, heardTick: Number.NEGATIVE_INFINITY, storageHealthy: false };
      this.#peers.set(id, peer);
    }
    return peer;
  }
}

import type { MemberId } from './cluster/member.ts';

interface Peer {
  /** In ticks, missed ticks included. Undefined if not connected. */
  connectedSinceTick: number | undefined;
  heardTick: number;
  storageHealthy: boolean;
}

/** What this member knows of the other members' processes: the connections of its transport, and their last messages. */
export class PeerActivity {
  readonly #peers = new Map<MemberId, Peer>();
  #tick = 0;
  #missedTicks = 0;

  tick(): void {
    this.#tick += 1;
  }

  /** The time of so many ticks has passed without a tick. It adds to the age of connections, but not to silence. */
  missed(ticks: number): void {
    this.#missedTicks += ticks;
  }

  /** The peer is no longer a member. */
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

  /** For how many ticks the peer is connected without a break, missed ticks included. -1: not connected. */
  connectedTicks(id: MemberId): number {
    const since = this.#peers.get(id)?.connectedSinceTick;
    return since === undefined ? -1 : this.#tick + this.#missedTicks - since;
  }

  /** The ticks since the peer was last heard, without missed ticks. */
  silentTicks(id: MemberId): number {
    return this.#tick - (this.#peers.get(id)?.heardTick ?? Number.NEGATIVE_INFINITY);
  }

  /** Whether the peer has reported healthy storage within the last `ticks`. A silent peer does not count as healthy. */
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

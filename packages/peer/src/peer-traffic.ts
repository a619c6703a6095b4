/** What has passed between this member and one other since the start, in both directions and over all connections. */
export class PeerTraffic {
  /** This member has a connection to the other one. */
  connected = false;
  /** How often that connection has ended. */
  disconnections = 0;
  /** Bytes of messages, calls, answers and batches, without what frames and gRPC add. */
  sentBytes = 0;
  receivedBytes = 0;
  /** Messages and calls that could not be sent: there was no connection, or too much was waiting. */
  sendFailures = 0;
  /** Streams of the other member that have ended with an error. */
  receiveFailures = 0;
  /** Messages of the other member that were not taken: no member that keeps the rules sends them. */
  refused = 0;
  /** Batches of the other member, as the leader, that were not taken. */
  refusedBatches = 0;
}

/** The traffic with each other member of the cluster. */
export class Traffic {
  readonly #peers = new Map<bigint, PeerTraffic>();

  /** Members that are not named are forgotten. */
  setMembers(ids: readonly bigint[]): void {
    for (const id of this.#peers.keys()) if (!ids.includes(id)) this.#peers.delete(id);
    for (const id of ids) if (!this.#peers.has(id)) this.#peers.set(id, new PeerTraffic());
  }

  /** Undefined if the cluster has no such member. */
  with(member: bigint): PeerTraffic | undefined {
    return this.#peers.get(member);
  }

  [Symbol.iterator](): IterableIterator<[bigint, PeerTraffic]> {
    return this.#peers.entries();
  }
}

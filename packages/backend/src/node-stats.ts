import type { Epoch, LogPosition } from '@engram/core';
import type { CurrentLeadership } from './lead/current-leadership.ts';
import type { Replica } from './replica/replica.ts';

/** What a node says of its replica of the store, for metrics, bounds and tests. Reading it costs nothing worth mentioning. */
export interface NodeStats {
  /** The epoch in which this node leads, as far as it knows. Undefined if it does not. */
  readonly leadsIn: Epoch | undefined;
  /** Every record before this position is durable, and this node was given it. */
  readonly next: LogPosition;
  /** Every record before this position has taken effect. */
  readonly applied: LogPosition;
  /** Bytes of writes that wait for the log, or for room below the quota; 0 if this node does not lead. */
  readonly waitingBytes: number;
  readonly leases: number;
  /** What the images of snapshots take. */
  readonly imagesBytes: number;
  /** Encoded versions kept for readers and watchers. */
  readonly cacheBytes: number;
  /** Readers, streams and images that hold compaction back. */
  readonly pins: number;
  /** Asserts that the index agrees with itself. Takes as long as the index is large: for tests. */
  verify(): void;
}

/** Of a replica, and of the leadership over it. */
export class ReplicaStats implements NodeStats {
  readonly #replica: Replica;
  readonly #current: CurrentLeadership;

  constructor(replica: Replica, current: CurrentLeadership) {
    this.#replica = replica;
    this.#current = current;
  }

  get leadsIn(): Epoch | undefined {
    return this.#current.leadership?.epoch;
  }

  get next(): LogPosition {
    return this.#replica.next;
  }

  get applied(): LogPosition {
    return this.#replica.applied;
  }

  get waitingBytes(): number {
    return this.#current.leadership?.waitingBytes ?? 0;
  }

  get leases(): number {
    return this.#replica.state.lessor.size;
  }

  get imagesBytes(): number {
    return this.#replica.imagesBytes;
  }

  get cacheBytes(): number {
    return this.#replica.cache.bytes;
  }

  get pins(): number {
    return this.#replica.pins.size;
  }

  verify(): void {
    this.#replica.state.index.verify();
  }
}

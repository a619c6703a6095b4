import { type Clock, EngramError, type Timer } from '@engram/core';
import { type CallContext, type StreamCall, statusOf } from '@engram/wire';
import type { ClusterView } from './cluster-view.ts';

/** A stream ends after this many checks in a row without a leader (etcd: maxNoLeaderCnt). */
const LOOKS = 3;

/**
 * Enforces `hasleader: true`, with which clients leave a member that is cut off. A member that knows no leader refuses
 * a new call with NoLeader, and ends an open stream with it (etcd server/etcdserver/api/v3rpc/interceptor.go:
 * monitorLeader).
 */
export class LeaderRequirement {
  readonly #cluster: ClusterView;
  readonly #clock: Clock;
  readonly #electionTimeoutMs: number;
  readonly #streams = new Map<CallContext, StreamCall>();
  #timer: Timer | undefined;
  #leaderless = 0;

  constructor(cluster: ClusterView, clock: Clock, electionTimeoutMs: number) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#electionTimeoutMs = electionTimeoutMs;
  }

  /** Throws NoLeader. */
  check(call: CallContext): void {
    if (this.#cluster.leaderId === 0n && requiresLeader(call)) throw new EngramError('NoLeader');
  }

  /** Ends the stream, if its client requires a leader, after three election timeouts without a leader. */
  watch(call: StreamCall): void {
    if (!requiresLeader(call)) return;
    this.#streams.set(call, call);
    if (this.#timer === undefined) this.#look();
  }

  /** The call has ended. */
  forget(call: CallContext): void {
    if (this.#streams.delete(call) && this.#streams.size === 0) this.#rest();
  }

  #look(): void {
    this.#timer = this.#clock.after(this.#electionTimeoutMs, () => {
      this.#leaderless = this.#cluster.leaderId === 0n ? this.#leaderless + 1 : 0;
      this.#look();
      if (this.#leaderless < LOOKS) return;
      const status = statusOf(new EngramError('NoLeader'), 'stream');
      for (const call of [...this.#streams.values()]) call.end(status);
    });
  }

  #rest(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#leaderless = 0;
  }
}

const requiresLeader = (call: CallContext): boolean => call.metadata('hasleader') === 'true';

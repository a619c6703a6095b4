import { type Clock, EngramError, type Timer } from '@engram/core';
import { type CallContext, type StreamCall, statusOf } from '@engram/wire';
import type { Loop, PureJob, Task } from '@engram/loop';
import type { ClusterView } from './cluster-view.ts';

/** A stream ends after this many checks in a row without a leader (etcd: maxNoLeaderCnt). */
const LOOKS = 3;
/** The clients are to find another member, so they wait for this as for an answer. */
const ENDING: Task = { work: 'client', caller: 'leaderless streams', stage: 'leaderless' };
/** The end of a stream, with all that follows it, is as much work as so many small steps. */
const END_STEPS = 8;

/**
 * Enforces `hasleader: true`, with which clients leave a member that is cut off. A member that knows no leader refuses
 * a new call with NoLeader, and ends an open stream with it (etcd server/etcdserver/api/v3rpc/interceptor.go:
 * monitorLeader).
 */
export class LeaderRequirement {
  readonly #cluster: ClusterView;
  readonly #clock: Clock;
  readonly #loop: Loop;
  readonly #electionTimeoutMs: number;
  readonly #streams = new Map<CallContext, StreamCall>();
  #timer: Timer | undefined;
  #leaderless = 0;
  #ending = false;

  constructor(cluster: ClusterView, clock: Clock, loop: Loop, electionTimeoutMs: number) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#loop = loop;
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
      if (this.#leaderless < LOOKS || this.#ending) return;
      this.#ending = true;
      void this.#loop.run(ENDING, this.#endAll());
    });
  }

  /** A member may have 262,144 streams. Those that are left when there is a leader again stay open. */
  *#endAll(): PureJob<void> {
    const status = statusOf(new EngramError('NoLeader'), 'stream');
    for (const call of this.#streams.values()) {
      if (this.#cluster.leaderId !== 0n) break;
      call.end(status);
      if (this.#loop.shouldYield(END_STEPS)) yield;
    }
    this.#ending = false;
  }

  #rest(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#leaderless = 0;
  }
}

const requiresLeader = (call: CallContext): boolean => call.metadata('hasleader') === 'true';

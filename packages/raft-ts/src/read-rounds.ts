import type { LogIndex } from './log-index.ts';
import type { NodeId } from './node-id.ts';

export interface ReadRequest {
  /** The node that asked: the leader itself, or a follower, which gets a message with the answer. */
  readonly from: NodeId;
  readonly context: Uint8Array;
}

interface Round {
  /** The commit index when the round began. */
  readonly index: LogIndex;
  readonly requests: readonly ReadRequest[];
  readonly confirmedBy: Set<NodeId>;
}

/**
 * Linearizable reads without a clock (Raft thesis, 6.4). A leader may answer reads as of its commit if it still led after
 * they had arrived. A round of heartbeats answered by a majority shows that. All reads that wait when a round begins share
 * it. Reads that come during a round wait for the next one, because a heartbeat sent before a read proves nothing for it.
 *
 * A round asks only the voters that have completed an earlier one, since the answers of the others would come too late to
 * matter. Those that were slow or silent get their turn again with `askAll`, whenever all get a heartbeat anyway, or when
 * a voter that is asked may have become unreachable. Which voters are asked decides only how soon a round ends, never
 * whether it may.
 *
 * Each leadership has its own instance. Rounds count from 1 in each term, so old answers match no later round.
 */
export class ReadRounds {
  readonly #waitingMax: number;
  #waiting: ReadRequest[] = [];
  #round: Round | undefined;
  #number = 0;
  /** The nodes that confirmed an earlier round. undefined: every voter is asked. */
  #asked: ReadonlySet<NodeId> | undefined;

  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  /** The number of the newest round, which heartbeats carry. */
  get number(): number {
    return this.#number;
  }

  get isUnderWay(): boolean {
    return this.#round !== undefined;
  }

  /** Whether a round asks `voter` as soon as it begins. */
  asks(voter: NodeId): boolean {
    return this.#asked?.has(voter) ?? true;
  }

  /** Until a round ends, all voters are asked. */
  askAll(): void {
    this.#asked = undefined;
  }

  /** False at the bound: the read is refused. */
  add(request: ReadRequest): boolean {
    if (this.#waiting.length >= this.#waitingMax) return false;
    this.#waiting.push(request);
    return true;
  }

  /** Begins a round for all waiting reads. False if a round is under way, or if no read waits. */
  begin(committed: LogIndex, self: NodeId): boolean {
    if (this.#round !== undefined || this.#waiting.length === 0) return false;
    this.#round = { index: committed, requests: this.#waiting, confirmedBy: new Set([self]) };
    this.#waiting = [];
    this.#number += 1;
    return true;
  }

  /** `from` has answered a heartbeat that was sent in round `number`. */
  confirmedBy(from: NodeId, number: number): void {
    if (number === this.#number) this.#round?.confirmedBy.add(from);
  }

  /** Ends the round and returns its reads, once `isQuorum` holds for the nodes that have confirmed it. */
  finish(
    isQuorum: (confirmed: ReadonlySet<NodeId>) => boolean,
  ): { readonly index: LogIndex; readonly requests: readonly ReadRequest[] } | undefined {
    const round = this.#round;
    if (round === undefined || !isQuorum(round.confirmedBy)) return undefined;
    this.#round = undefined;
    this.#asked = round.confirmedBy;
    return round;
  }
}

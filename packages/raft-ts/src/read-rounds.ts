import type { LogIndex } from './log-index.ts';
import type { NodeId } from './node-id.ts';

export interface ReadRequest {
  /** Who asked: the leader itself, or a follower, which is told. */
  readonly from: NodeId;
  readonly context: Uint8Array;
}

interface Round {
  /** Committed when the round began. */
  readonly index: LogIndex;
  readonly requests: readonly ReadRequest[];
  readonly confirmedBy: Set<NodeId>;
}

/**
 * Linearizable reads without a clock (Raft thesis, 6.4). A leader may answer reads as of its commit if it led after they
 * had arrived, which a round of heartbeats through a majority shows. All reads that wait when a round begins share it;
 * those that come during a round wait for the next: an answer to a heartbeat sent before a read came proves nothing for it.
 *
 * A leader's own, and gone with its leadership. Rounds count from 1 in each term, so old answers match no later round.
 */
export class ReadRounds {
  readonly #waitingMax: number;
  #waiting: ReadRequest[] = [];
  #round: Round | undefined;
  #number = 0;

  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  /** Of the newest round: heartbeats carry it. */
  get number(): number {
    return this.#number;
  }

  /** False at the bound: the read is refused. */
  add(request: ReadRequest): boolean {
    if (this.#waiting.length >= this.#waitingMax) return false;
    this.#waiting.push(request);
    return true;
  }

  /** Begins a round for all that wait. False: one is under way, or nobody waits. */
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

  /** The round's reads, once `isQuorum` holds for those who have confirmed it. */
  finish(
    isQuorum: (confirmed: ReadonlySet<NodeId>) => boolean,
  ): { readonly index: LogIndex; readonly requests: readonly ReadRequest[] } | undefined {
    const round = this.#round;
    if (round === undefined || !isQuorum(round.confirmedBy)) return undefined;
    this.#round = undefined;
    return round;
  }
}

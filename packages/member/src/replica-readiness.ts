import type { Replica } from '@engram/backend';
import { type Clock, withDeadline } from '@engram/core';
import { READY_SHARE } from '@engram/election';
import * as peerpb from './gen/peerpb.ts';
import { readAnswer } from './leader-answer.ts';
import { noAnswer, PeerError, type Peers } from './peers.ts';

export interface ReplicaReadinessOptions {
  readonly peers: Peers;
  readonly replica: Replica;
  readonly clock: Clock;
}

/** How long a learner has for its answer. */
const ANSWER_MAX_MS = 1000;

/**
 * Whether the replicas of learners are close to this member's. Raft's own log has no data in it, so a learner may have all
 * of that and nothing of the store.
 */
export class ReplicaReadiness {
  readonly #options: ReplicaReadinessOptions;
  readonly #ready = new Map<bigint, boolean>();

  constructor(options: ReplicaReadinessOptions) {
    this.#options = options;
  }

  /** The answer to the last question. */
  isReady(learner: bigint): boolean {
    return this.#ready.get(learner) === true;
  }

  /** Asks the learner how far it is. One that does not answer is not ready. */
  async ask(learner: bigint, signal: AbortSignal): Promise<void> {
    const { peers, replica, clock } = this.#options;
    const request = peerpb.encodeRequest({ applied: {} });
    const ask = (bounded: AbortSignal): Promise<Uint8Array> => peers.call(learner, request, bounded);
    this.#ready.delete(learner);
    try {
      const answer = readAnswer(await withDeadline(clock, ANSWER_MAX_MS, noAnswer, ask, signal));
      this.#ready.set(learner, answer.position >= replica.applied * READY_SHARE);
    } catch (error) {
      if (!(error instanceof PeerError)) throw error;
    }
  }
}

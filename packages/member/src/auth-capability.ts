import { type Clock, sleep, withDeadline } from '@engram/core';
import * as peerpb from './gen/peerpb.ts';
import { readAnswer } from './leader-answer.ts';
import { noAnswer, PeerError, type Peers } from './peers.ts';

export interface AuthCapabilityOptions {
  readonly memberId: bigint;
  readonly members: () => readonly { readonly id: bigint }[];
  readonly peers: Peers;
  readonly clock: Clock;
}

/** How long the members have for their answers: less than a request has. */
const ANSWER_MAX_MS = 5000;
/** A member that cannot be reached is asked again after this: at a start, members find each other one after the other. */
const AGAIN_MS = 100;

/**
 * Whether every other member knows users and roles. A member of a version that does not know them would end at their first
 * record, and would serve reads without asking for rights before that. So a leader asks before it writes the first one. A member
 * without an answer counts as one that does not know them. Later no such member can start: it cannot read the log.
 */
export async function everyMemberKnowsAuth(options: AuthCapabilityOptions): Promise<boolean> {
  const { memberId, members, peers, clock } = options;
  const request = peerpb.encodeRequest({ applied: {} });
  const knows = async (id: bigint, signal: AbortSignal): Promise<boolean> => {
    if (id === memberId) return true;
    for (;;) {
      try {
        return readAnswer(await peers.call(id, request, signal)).knowsAuth;
      } catch (error) {
        if (!(error instanceof PeerError)) throw error;
      }
      if (signal.aborted) return false;
      await sleep(clock, AGAIN_MS);
    }
  };
  const all = (signal: AbortSignal): Promise<readonly boolean[]> =>
    Promise.all(members().map(({ id }) => knows(id, signal)));
  return (await withDeadline(clock, ANSWER_MAX_MS, noAnswer, all)).every((known) => known);
}

import type { Clock } from '@engram/core';
import * as peerpb from './gen/peerpb.ts';
import { readAnswer } from './leader-answer.ts';
import { PeerError, type Peers } from './peers.ts';

export interface AuthCapabilityOptions {
  readonly memberId: bigint;
  readonly members: () => readonly { readonly id: bigint }[];
  readonly peers: Peers;
  readonly clock: Clock;
}

/** How long the members have for their answers. */
const ANSWER_MAX_MS = 1000;

/**
 * Whether every other member knows users and roles. A member of a version that does not know them would end at their first
 * record, and would serve reads without asking for rights before that. So a leader asks before it writes the first one. A member
 * without an answer counts as one that does not know them. Later no such member can start: it cannot read the log.
 */
export async function everyMemberKnowsAuth(options: AuthCapabilityOptions): Promise<boolean> {
  const { memberId, members, peers, clock } = options;
  const late = new AbortController();
  const timer = clock.after(ANSWER_MAX_MS, () => late.abort(new PeerError('lost', 'no answer in time')));
  const request = peerpb.encodeRequest({ applied: {} });
  const knows = async ({ id }: { readonly id: bigint }): Promise<boolean> => {
    if (id === memberId) return true;
    try {
      return readAnswer(await peers.call(id, request, late.signal)).knowsAuth;
    } catch (error) {
      if (error instanceof PeerError) return false;
      throw error;
    }
  };
  try {
    return (await Promise.all(members().map(knows))).every((known) => known);
  } finally {
    timer.cancel();
  }
}

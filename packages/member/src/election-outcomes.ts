import type { Epoch, Logger } from '@engram/core';
import type { ClusterState, ElectionOwner, Member as ElectedMember } from '@engram/election';
import type { KnownLeader } from './known-leader.ts';
import type { MemberIdentity } from './member.ts';
import type { PeerNetwork } from './peers.ts';
import type { TransitionInputs } from './transition-driver.ts';

export interface ElectionOutcomesOptions {
  readonly identity: MemberIdentity;
  readonly inputs: TransitionInputs;
  readonly known: KnownLeader;
  readonly network: Pick<PeerNetwork, 'setMembers'>;
  readonly logger: Logger;
  readonly onRemoved: () => void;
  readonly onFatal: (error: Error) => void;
}

/** Takes the outcomes of the election: who leads, who is a member, what this member is to do. */
export class ElectionOutcomes implements ElectionOwner {
  readonly #options: ElectionOutcomesOptions;
  readonly #listed = Promise.withResolvers<void>();

  constructor(options: ElectionOutcomesOptions) {
    this.#options = options;
  }

  lead(epoch: Epoch): void {
    this.#options.inputs.put({ kind: 'lead', epoch });
  }

  stepDown(epoch: Epoch): void {
    this.#options.inputs.put({ kind: 'step-down', epoch });
  }

  follow(leader: bigint, epoch: Epoch): void {
    this.#options.known.set({ memberId: leader, epoch });
  }

  noLeader(): void {
    this.#options.known.set(undefined);
  }

  clusterChanged({ members }: ClusterState): void {
    // A joining member has an empty list until the leader has sent one. Until then it keeps its first connections.
    if (members.length > 0) this.connectTo(members);
    const { memberId: self, name, clientUrls } = this.#options.identity;
    const entry = members.find(({ id }) => id === self);
    if (entry?.name === name && entry.clientUrls.join() === clientUrls.join()) this.#listed.resolve();
  }

  removed(): void {
    this.#options.logger.warn({}, 'this member was removed from the cluster');
    this.#options.onRemoved();
  }

  failed(error: unknown): void {
    this.#options.onFatal(error instanceof Error ? error : new Error('the election has failed', { cause: error }));
  }

  /** Resolves when the member list shows this member's name and client URLs. Rejects with the signal's reason. */
  async listed(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    try {
      await Promise.race([this.#listed.promise, aborted.promise]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** A list that the network fails to take is logged: all members have it, and would end with it at each start. */
  connectTo(members: readonly ElectedMember[]): void {
    const { network, logger } = this.#options;
    try {
      network.setMembers(members);
    } catch (error) {
      logger.error({ error }, 'cannot connect to the members of the list');
    }
  }
}

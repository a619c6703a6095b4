import { nodeItself } from '@engram/backend';
import { isEngramError } from '@engram/core';
import type { ClusterMemberOptions } from './cluster-member-options.ts';
import { type Composition, compose, decompose } from './composition.ts';
import type { Member } from './member.ts';
import type { PeerService } from './peers.ts';

/**
 * One of several members over one log. Raft elects the member that tries to lead; the seal in the log decides which member
 * leads. A leadership begins when this member has sealed the log and read it to its end. It ends when Raft or the log says
 * so. A member that does not lead follows the leader: see `Transitions`.
 */
export class ClusterMember implements AsyncDisposable {
  readonly member: Member;
  /** The transport calls it on behalf of the other members. */
  readonly service: PeerService;
  readonly #composition: Composition;
  readonly #options: ClusterMemberOptions;

  private constructor(composition: Composition, options: ClusterMemberOptions) {
    this.member = composition.member;
    this.service = composition.gate;
    this.#composition = composition;
    this.#options = options;
  }

  /** Rebuilds the replica from storage, and takes part in the cluster from then on. */
  static async start(options: ClusterMemberOptions): Promise<ClusterMember> {
    return new ClusterMember(await compose(options), options);
  }

  /**
   * Resolves when this member can serve: a leader has answered it, and the member list has its name and its client URLs.
   * A member without them counts as not started (etcd: ReadyNotify).
   */
  async ready(signal: AbortSignal): Promise<void> {
    await this.#answered(signal);
    await this.#composition.outcomes.listed(signal);
  }

  async #answered(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.member.store.readIndex({ ...nodeItself, signal });
        return;
      } catch (error) {
        if (!isEngramError(error) || error.code === 'Stopped') throw error;
      }
    }
    signal.throwIfAborted();
  }

  /** Compares this member's data with the others', before it serves: see `CorruptionCheck.checkSelf`. */
  async checkData(): Promise<void> {
    const { replica, health } = this.#composition;
    if (replica.next > 1) await health.corruption.checkSelf();
  }

  /** The memory of the batches that this member keeps for its followers. */
  get feedBytes(): number {
    return this.#composition.feed.bytes;
  }

  /** A leader first hands over, if a successor takes over in time. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.member.serving.set(false);
    await decompose(this.#composition, this.#options);
    await this.member[Symbol.asyncDispose]();
  }
}

import type { Backend } from '@engram/backend';
import type { Clock, Logger } from '@engram/core';
import type { ElectionDriver } from '@engram/election';
import { StorageDivergedError, type Values } from '@engram/storage';
import type { ClusterMemberOptions } from './cluster-member-options.ts';
import type { ClusterOfMembers } from './cluster-of-members.ts';
import { CorruptionCheck } from './corruption-check.ts';
import type { LeadershipProof } from './leadership-proof.ts';
import type { Peers } from './peers.ts';
import { StorageWatch } from './storage-watch.ts';

export interface ClusterHealthOptions {
  readonly backend: Backend;
  readonly cluster: ClusterOfMembers;
  readonly driver: Pick<ElectionDriver, 'setStorageHealth'>;
  readonly peers: Peers;
  readonly proof: LeadershipProof;
  readonly values: Pick<Values, 'giveUp'>;
  readonly probeStorage: ClusterMemberOptions['probeStorage'];
  /** Default: never. */
  readonly corruptionChecks: ClusterMemberOptions['corruptionChecks'];
  /** See `ClusterOfMembersOptions`. */
  readonly storageMs: () => number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when the member stops. */
  readonly signal: AbortSignal;
  /** The node must end. */
  readonly onFatal: (error: Error) => void;
}

/** Whether this member reaches storage, and whether its data is that of the others. */
export class ClusterHealth implements Disposable {
  /** For the answers to other members. */
  readonly corruption: CorruptionCheck;
  readonly #options: ClusterHealthOptions;
  readonly #storageWatch: StorageWatch;

  constructor(options: ClusterHealthOptions) {
    const { backend, cluster, driver, peers, proof, probeStorage, storageMs, clock, logger, signal } = options;
    const leads = (): boolean => backend.leadership !== undefined;
    this.#options = options;
    this.#storageWatch = new StorageWatch({
      probeStorage,
      leads,
      underWayMs: storageMs,
      stalledMs: () => cluster.stalledMs,
      onHealth: (healthy) => driver.setStorageHealth(healthy),
      confirm: () => proof.confirm(signal),
      clock,
      logger,
    });
    const self = cluster.memberId;
    this.corruption = new CorruptionCheck({
      self,
      others: () => cluster.members.map(({ id }) => id).filter((id) => id !== self),
      store: backend,
      peers,
      leads,
      leader: () => cluster.leaderId,
      intervals: options.corruptionChecks ?? { newestMs: 0, compactedMs: 0 },
      onDiffers: (why) => void this.#giveUp(why),
      clock,
      logger,
    });
  }

  [Symbol.dispose](): void {
    this.#storageWatch.close();
    this.corruption[Symbol.dispose]();
  }

  /** This member's data is not that of the others. It ends, and starts again without its copy. */
  async #giveUp(why: string): Promise<void> {
    const { values, onFatal } = this.#options;
    const error = await values.giveUp?.(why);
    onFatal(error ?? new StorageDivergedError(why));
  }
}

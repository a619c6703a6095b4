import type { Revision } from '@engram/core';
import type { ElectionDriverOptions, Member as ElectedMember, RaftStorage } from '@engram/election';
import type { CorruptionIntervals } from './corruption-check.ts';
import type { Introduction } from './given-members.ts';
import type { ImagePolicy } from './image-keeper.ts';
import type { MemberOptions } from './member.ts';
import type { PeerNetwork } from './peers.ts';

export interface ClusterMemberOptions extends MemberOptions {
  readonly raftStorage: RaftStorage;
  /** A member that joins starts with connections to the others: see `PeerNetwork.setMembers`. */
  readonly network: PeerNetwork;
  readonly election: Pick<
    ElectionDriverOptions,
    'tickMs' | 'limits' | 'rules' | 'snapshotEntries' | 'keptEntries' | 'skippedEntries'
  >;
  /**
   * Resolves if this member reaches storage, and rejects if it does not. A leader that does not reach storage hands over to
   * a member that does. If no member reaches storage, the leader stays.
   */
  readonly probeStorage: (signal: AbortSignal) => Promise<void>;
  /** Fires with the reason if storage will never serve this process again. The member ends by it. */
  readonly storageEnded?: AbortSignal;
  /** When the members' data is compared. Default: never. */
  readonly corruptionChecks?: CorruptionIntervals;
  /** How the image that members share is kept. Default: `defaultImagePolicy`. */
  readonly imagePolicy?: ImagePolicy;
  /** See `BackendOptions`. */
  readonly firstRevision?: Revision;
  /** The most bytes of the newest batches that a leader keeps for its followers; 32 MiB. */
  readonly feedBytesMax?: number;
  /** A longer answer to a transaction is read by the member that has passed it on, from its own replica; 64 KiB. */
  readonly inlineBytesMax?: number;
  /** `--initial-cluster-token`. */
  readonly token: string;
  /** The first members of a new cluster, the same list on each. Undefined: this member joins a cluster that has added it. */
  readonly firstMembers: readonly ElectedMember[] | undefined;
  /** Whom this member takes for a member until the leader has sent it the list. Undefined: nobody. Only for one that joins. */
  readonly introduction?: Introduction;
  /** Called when this member was removed from the cluster: the process has nothing left to do. */
  readonly onRemoved: () => void;
}

import { StorageOpenError } from '@engram/storage';
import { endFollowing, type FollowedRootOptions, LogKeys, newestRoot } from '@engram/storage-tikv';
import type { TikvClient } from '@engram/tikv-client';
import type { ClusterConfig } from '../cluster/cluster-config.ts';
import type { NodeConfig } from '../config/node-config.ts';
import { ConfigError } from '../flags/flag-values.ts';
import { TikvTarget } from '../restore/tikv-target.ts';
import { connectToTikv, namedMembers } from '../start/cluster-data.ts';
import { checkDataOfMember, segmentFolder } from '../start/data-directory.ts';
import { FoundingFolder } from '../start/founding-folder.ts';
import type { MigrationMark } from '../start/migration-mark.ts';
import type { FollowedSource, MigrationPlace, PlaceParts } from './migration-place.ts';
import { takeSnapshot } from './take-snapshot.ts';

const TIMEOUT_MS = 30_000;
/** Of a look at the mark, which comes again. */
const LOOK_TIMEOUT_MS = 2000;

/** A prefix of TiKV, whose root has the mark. The members of --initial-cluster are founded; any of them may begin. */
export class TikvPlace implements MigrationPlace {
  readonly #config: NodeConfig;
  readonly #cluster: ClusterConfig;
  readonly #parts: PlaceParts;
  readonly #client: TikvClient;
  readonly #keys: LogKeys;
  #foundingId: bigint | undefined;

  private constructor(config: NodeConfig, cluster: ClusterConfig, parts: PlaceParts, client: TikvClient) {
    this.#config = config;
    this.#cluster = cluster;
    this.#parts = parts;
    this.#client = client;
    this.#keys = new LogKeys(cluster.prefix);
  }

  /** Rejects with the client's errors if PD does not answer, and with ConfigError if the data directory is not for a member. */
  static async open(config: NodeConfig, cluster: ClusterConfig, parts: PlaceParts): Promise<TikvPlace> {
    checkDataOfMember(config.dataDir);
    return new TikvPlace(config, cluster, parts, await connectToTikv(cluster, parts));
  }

  async followed(signal: AbortSignal): Promise<MigrationMark | undefined> {
    const root = await newestRoot(this.#at(signal, TIMEOUT_MS));
    // What an attempt before has left is this member's own, or is refused in `found`.
    if (root === 'unfinished' || (root === 'missing' && this.#config.newCluster)) return undefined;
    if (root === 'missing') {
      const text = `--initial-cluster-state=existing, but there is no cluster at the prefix ${this.#prefix}`;
      throw new StorageOpenError('missing', text);
    }
    if (root.follows === undefined) {
      throw new ConfigError(
        `the store at the prefix ${this.#prefix} follows no etcd: start its members without the command migrate, or give another --tikv-prefix`,
      );
    }
    this.#foundingId = root.foundingId;
    FoundingFolder.remove(this.#config.dataDir);
    return root.follows;
  }

  /**
   * Rejects with StorageOpenError `unfinished` if another data directory than this one has begun to found a store there, unless
   * --discard-unfinished is given, and with what a restore into a prefix rejects with.
   */
  async found(etcd: FollowedSource): Promise<void> {
    const { random, logger, signal } = this.#parts;
    const { dataDir, discardUnfinished } = this.#config;
    using folder = await FoundingFolder.open(dataDir, random);
    // Its answer tells the cluster, which a snapshot does not.
    await etcd.source.revision(signal);
    const cluster = {
      ...this.#cluster,
      members: await namedMembers(this.#config, this.#cluster, logger),
      discardUnfinished,
      restore: folder.restore,
      follows: { clusterId: etcd.client.clusterId!, from: etcd.from },
    };
    await using target = await TikvTarget.open(cluster, this.#parts);
    const { revision, keys, leases } = await takeSnapshot(folder.path, etcd, this.#parts);
    await target.fill(segmentFolder(folder.path), () => {});
    logger.info({ revision, keys, leases, prefix: this.#cluster.prefix }, 'founded a store from the snapshot');
    await this.followed(signal);
  }

  async isThere(signal: AbortSignal): Promise<boolean> {
    const root = await newestRoot(this.#at(signal, LOOK_TIMEOUT_MS));
    if (typeof root === 'string' || root.foundingId !== this.#foundingId) {
      throw new StorageOpenError('other-cluster', `the cluster at the prefix ${this.#prefix} is gone`);
    }
    return root.follows !== undefined;
  }

  async remove(signal: AbortSignal): Promise<void> {
    await endFollowing(this.#at(signal, TIMEOUT_MS), this.#foundingId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
  }

  get #prefix(): string {
    return JSON.stringify(this.#cluster.prefix);
  }

  #at(signal: AbortSignal, timeoutMs: number): FollowedRootOptions {
    return { client: this.#client, keys: this.#keys, signal, timeoutMs };
  }
}

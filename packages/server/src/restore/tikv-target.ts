import { recoverReplica } from '@engram/backend';
import { type Clock, drawId, type Logger, type Random } from '@engram/core';
import { clusterIdOf } from '@engram/election';
import { Loop } from '@engram/loop';
import { openSegmentStorage } from '@engram/storage-segment';
import {
  checkPrefixIsFree,
  type FollowedEtcd,
  LogKeys,
  restoreIntoPrefix,
  type RestorePlace,
} from '@engram/storage-tikv';
import type { TikvClient } from '@engram/tikv-client';
import type { RestoredCluster } from '../config/restore-config.ts';
import { connectToTikv, foundersOf } from '../start/cluster-data.ts';

export interface TikvTargetParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Ends the work. */
  readonly signal: AbortSignal;
}

export interface TikvTargetCluster extends RestoredCluster {
  /** Undefined: the store takes writes. */
  readonly follows?: FollowedEtcd | undefined;
  /** See `RestorePlace`. */
  readonly restore?: bigint | undefined;
}

/** Of each request. */
const TIMEOUT_MS = 30_000;
/** As a leader cuts the images that it writes. */
const PAGE_BYTES = 64 << 10;

/** A prefix of TiKV that becomes the store of a cluster. */
export class TikvTarget implements AsyncDisposable {
  readonly #cluster: TikvTargetCluster;
  readonly #parts: TikvTargetParts;
  readonly #client: TikvClient;

  private constructor(cluster: TikvTargetCluster, parts: TikvTargetParts, client: TikvClient) {
    this.#cluster = cluster;
    this.#parts = parts;
    this.#client = client;
  }

  /** Rejects with StorageOpenError if the prefix is not free, and with the client's errors if PD does not answer. */
  static async open(cluster: TikvTargetCluster, parts: TikvTargetParts): Promise<TikvTarget> {
    await using opened = new AsyncDisposableStack();
    const client = opened.use(await connectToTikv(cluster, parts));
    const target = new TikvTarget(cluster, parts, client);
    await checkPrefixIsFree(target.#place(parts.signal));
    opened.move();
    return target;
  }

  /**
   * Writes the store that the segments of this folder hold, and founds the cluster. `passed` is called with the bytes of the store
   * as they are read. Rejects as `restoreIntoPrefix` does: then no member starts on the prefix.
   */
  async fill(folder: string, passed: (bytes: number) => void): Promise<void> {
    const { clock, random, logger } = this.#parts;
    const loop = new Loop({ clock });
    const broken = new AbortController();
    const signal = AbortSignal.any([this.#parts.signal, broken.signal]);
    const storage = await openSegmentStorage({ path: folder, clock, random, logger });
    await using replica = await recoverReplica({
      storage,
      clock,
      random,
      logger,
      loop,
      onFatal: (error) => broken.abort(error),
    });
    const pace = async (bytes: number): Promise<void> => passed(bytes);
    const image = replica.sharedImage({ pageBytes: PAGE_BYTES, pace, signal });
    const members = foundersOf(this.#cluster.members, this.#cluster.token);
    const foundingId = drawId(random);
    const { follows } = this.#cluster;
    const cluster = { clusterId: clusterIdOf(members.map(({ id }) => id)), members, foundingId, follows };
    await restoreIntoPrefix({ ...this.#place(signal), cluster, random, loop, logger }, image);
  }

  #place(signal: AbortSignal): RestorePlace {
    const { prefix, discardUnfinished, restore } = this.#cluster;
    const keys = new LogKeys(prefix);
    return { client: this.#client, keys, discardUnfinished, restore, signal, timeoutMs: TIMEOUT_MS };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
  }
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Logger, Random } from '@engram/core';
import { MemoryStorage, type Storage, StorageOpenError } from '@engram/storage';
import { openLevelDbStorage } from '@engram/storage-leveldb';
import { ConfigError } from './flag-values.ts';
import { type Identity, nextIdentity, randomIdentity } from './identity.ts';
import type { NodeConfig } from './node-config.ts';

/** LevelDB's cache of blocks: values that are used again and again are in the store's own cache (--value-cache-bytes). */
const BLOCK_CACHE_BYTES = 16 * 1024 * 1024;

export interface OpenedData {
  readonly storage: Storage;
  readonly identity: Identity;
}

export interface DataParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Below --data-dir all that is ours is in one folder, so that nothing of another program is mixed with it. */
export const ownFolder = (dataDir: string): string => join(dataDir, 'engram');

/**
 * Opens the storage, which locks the directory, and then takes the next term. Throws ConfigError where the directory
 * is another's, StorageOpenError and StorageCorruptError as the storage says.
 */
export async function openData(config: NodeConfig, { clock, random, logger }: DataParts): Promise<OpenedData> {
  if (config.storage === 'memory') return { storage: new MemoryStorage(), identity: randomIdentity(random) };
  const own = ownFolder(config.dataDir);
  const identityFile = join(own, 'identity.json');
  if (existsSync(join(config.dataDir, 'member'))) {
    throw new ConfigError(`${config.dataDir} holds the data of a member of etcd, which this program cannot read`);
  }
  if (!config.newCluster && !existsSync(identityFile)) {
    throw new ConfigError(
      `--initial-cluster-state=existing, but ${config.dataDir} holds no data: joining a cluster is not supported yet`,
    );
  }
  let storage: Storage;
  try {
    storage = await openLevelDbStorage({ path: join(own, 'db'), cacheBytes: BLOCK_CACHE_BYTES, clock, logger });
  } catch (cause) {
    if (cause instanceof StorageOpenError && cause.reason === 'locked') {
      throw new StorageOpenError('locked', `data directory ${config.dataDir} is in use by another process`, { cause });
    }
    throw cause;
  }
  try {
    return { storage, identity: nextIdentity(identityFile, random) };
  } catch (error) {
    await storage[Symbol.asyncDispose]();
    throw error;
  }
}

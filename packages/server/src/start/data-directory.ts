import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Following } from '@engram/backend';
import { assert, type Clock, type Logger, type Random } from '@engram/core';
import type { Loop } from '@engram/loop';
import { MemoryStorage, type Storage, StorageOpenError } from '@engram/storage';
import { openLevelDbStorage } from '@engram/storage-leveldb';
import { nodeFileSystem, openSegmentStorage } from '@engram/storage-segment';
import { ConfigError } from '../flags/flag-values.ts';
import { checkFirstStart } from '../cluster/initial-cluster.ts';
import { type Identity, nextIdentity, randomIdentity } from './identity.ts';
import { readMigrationMark } from './migration-mark.ts';
import { type NodeConfig, type StorageEngine, storageEngines } from '../config/node-config.ts';

/** LevelDB's block cache. The store has its own cache for values that are read again (--value-cache-bytes). */
const BLOCK_CACHE_BYTES = 16 * 1024 * 1024;

/** Each engine has its own folder, whose name shows which engine wrote the data. */
const FOLDERS: Readonly<Record<StorageEngine, string>> = { segment: 'segments', leveldb: 'db' };
/** The engine for a new data directory. */
const NEW: StorageEngine = 'segment';

export interface OpenedData {
  readonly storage: Storage;
  readonly identity: Identity;
}

export interface DataParts {
  readonly clock: Clock;
  readonly loop: Loop;
  readonly random: Random;
  readonly logger: Logger;
  /** The store follows an etcd. */
  readonly following?: Following | undefined;
}

/** All data is in one folder below --data-dir, so that it never mixes with another program's. */
export const ownFolder = (dataDir: string): string => join(dataDir, 'engram');

/** The folder of a restore that runs, or that was ended by force. Nothing of it is a store. */
export const unfinishedFolder = (dataDir: string): string => join(dataDir, 'engram.new');

const IDENTITY_FILE = 'identity.json';

/** The files and folders that are the store of a lone node, below its own folder. Empty if it has not started once. */
export function storeFiles(own: string): readonly string[] {
  const identity = join(own, IDENTITY_FILE);
  return existsSync(identity) ? [identity, ...enginesIn(own).map((engine) => join(own, FOLDERS[engine]))] : [];
}

/** The directory belongs to a member of a cluster. */
export const holdsCopyOfCluster = (dataDir: string): boolean => hasFiles(copyFolder(dataDir));

/** Where a lone node has its segments, below its own folder. */
export const segmentFolder = (own: string): string => join(own, FOLDERS.segment);

/**
 * Makes the directory, level by level. Throws ConfigError if that is not possible. Node's own recursive way never ends
 * where the system says ENOENT for a directory whose parent exists, as below /proc.
 */
export function makeDataDirectory(dataDir: string): void {
  const missing: string[] = [];
  for (let path = dataDir; !existsSync(path) && path !== dirname(path); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ConfigError(`cannot create the data directory ${dataDir}: ${why}`, { cause });
    }
  }
}

/**
 * Opens the storage, which locks the directory, then takes the next start count. Throws ConfigError if the directory
 * belongs to another program, and StorageOpenError and StorageCorruptError as the storage does.
 */
export async function openData(config: NodeConfig, parts: DataParts): Promise<OpenedData> {
  const { clock, loop, random, logger } = parts;
  const own = ownFolder(config.dataDir);
  const identityFile = join(own, IDENTITY_FILE);
  if (config.storage === 'memory') {
    await checkFirstStart(config.firstStart, addressesOf, clock);
    return { storage: new MemoryStorage(), identity: randomIdentity(random) };
  }
  const isFirst = !existsSync(identityFile);
  refuseForeignData(config.dataDir);
  const mark = readMigrationMark(own);
  if (mark !== undefined && parts.following === undefined) {
    throw new ConfigError(
      `${config.dataDir} holds a store that follows the etcd at ${mark.from.join()}, and takes no writes: start it with engram migrate, until engram cut-over has ended that`,
    );
  }
  assert(mark !== undefined || parts.following === undefined, 'a store follows an etcd without a mark');
  if (holdsCopyOfCluster(config.dataDir)) {
    throw new ConfigError(
      `${config.dataDir} holds the copy of a member of a cluster: start it with --storage=tikv, or give another --data-dir`,
    );
  }
  if (!config.newCluster && isFirst) {
    throw new ConfigError(
      `--initial-cluster-state=existing, but ${config.dataDir} holds no data: a member joins a cluster with --storage=tikv`,
    );
  }
  if (isFirst) await checkFirstStart(config.firstStart, addressesOf, clock);
  const engine = chooseEngine(config, own);
  let storage: Storage;
  try {
    storage = await openEngine(engine, join(own, FOLDERS[engine]), { clock, loop, random, logger });
  } catch (cause) {
    if (cause instanceof StorageOpenError && cause.reason === 'locked') {
      throw new StorageOpenError('locked', `data directory ${config.dataDir} is in use by another process`, { cause });
    }
    throw cause;
  }
  try {
    return { storage, identity: await nextIdentity(nodeFileSystem, identityFile, random) };
  } catch (error) {
    await storage[Symbol.asyncDispose]();
    throw error;
  }
}

/** Few starts need names, and the others do not load the resolver. */
const addressesOf = async (host: string): Promise<readonly string[]> =>
  (await import('../cluster/srv-discovery.ts')).systemNames().addresses(host);

/** A member of a cluster keeps a copy of the log here. It can be fetched again. */
export const copyFolder = (dataDir: string): string => join(ownFolder(dataDir), 'copy');

/** Throws ConfigError if the directory is not for a member of a cluster: the member would start beside data that it ignores. */
export function checkDataOfMember(dataDir: string): void {
  refuseForeignData(dataDir);
  const [engine] = enginesIn(ownFolder(dataDir));
  if (engine === undefined) return;
  throw new ConfigError(
    `--storage=tikv, but ${dataDir} holds the data of --storage=${engine}, a node that is alone: its keys would not be in the cluster. Give another --data-dir`,
  );
}

function refuseForeignData(dataDir: string): void {
  if (existsSync(join(dataDir, 'member'))) {
    throw new ConfigError(
      `${dataDir} holds the data of a member of etcd: engram restore ${join(dataDir, 'member/snap/db')} --skip-hash-check makes another data directory from it`,
    );
  }
  const unfinished = unfinishedFolder(dataDir);
  if (!existsSync(unfinished)) return;
  throw new ConfigError(
    `a restore into ${dataDir} is running, or was ended before it was done: in the latter case remove ${unfinished} and restore again`,
  );
}

/** Only the engine that wrote existing data may open it: a member must never start with an empty store next to its data. */
function chooseEngine({ storage, dataDir }: NodeConfig, own: string): StorageEngine {
  const found = enginesIn(own);
  const [holds, second] = found;
  if (second !== undefined) {
    const folders = found.map((engine) => `${join(own, FOLDERS[engine])} (--storage=${engine})`).join(' and ');
    throw new ConfigError(`two storages are in one data directory, ${folders}: move away the one that is not wanted`);
  }
  const wanted = storage === 'segment' || storage === 'leveldb' ? storage : undefined;
  if (holds !== undefined && wanted !== undefined && holds !== wanted) {
    const way = `start it with --storage=${holds} or without the flag, or give another --data-dir`;
    throw new ConfigError(`--storage=${wanted}, but ${dataDir} holds the data of --storage=${holds}: ${way}`);
  }
  return holds ?? wanted ?? NEW;
}

/** The engines that have written data here. */
const enginesIn = (own: string): readonly StorageEngine[] =>
  storageEngines.filter((engine) => hasFiles(join(own, FOLDERS[engine])));

function hasFiles(folder: string): boolean {
  // The root of an empty file system has this folder.
  return existsSync(folder) && readdirSync(folder).some((name) => name !== 'lost+found');
}

async function openEngine(
  engine: StorageEngine,
  path: string,
  { clock, loop, random, logger }: DataParts,
): Promise<Storage> {
  switch (engine) {
    case 'segment':
      return await openSegmentStorage({ path, clock, loop, random, logger });
    case 'leveldb':
      return await openLevelDbStorage({ path, cacheBytes: BLOCK_CACHE_BYTES, clock, logger });
  }
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock, realRandom, TestLogger } from '@engram/sim';
import type { StorageBed } from '@engram/storage/contract';
import { openSegmentStorage } from '@engram/storage-segment';
import {
  CheckpointMemory,
  type LocalOptions,
  openRoot,
  openTikvStorage,
  LogKeys,
  type TikvStorage,
  type TikvStorageOptions,
} from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import { FakeCluster } from '@engram/tikv-client/testing';

export const clusterId = 0x5eed_0000_0000_0001n;

export interface BedOptions extends Partial<Omit<TikvStorageOptions, 'local'>> {
  readonly local?: 'disk' | 'memory';
}

/** A cluster of stores in this process, and the storages that were opened on it, one at a time. */
export class TikvBed implements StorageBed {
  readonly cluster: FakeCluster;
  readonly client: TikvClient;
  readonly path: string;
  readonly logger = new TestLogger();
  readonly #options: BedOptions;
  readonly #checkpoint = new CheckpointMemory();
  readonly #opened: TikvStorage[] = [];

  private constructor(cluster: FakeCluster, client: TikvClient, path: string, options: BedOptions) {
    this.cluster = cluster;
    this.client = client;
    this.path = path;
    this.#options = options;
  }

  static async make(options: BedOptions = {}): Promise<TikvBed> {
    const cluster = new FakeCluster({ clock: realClock });
    const client = await connect(cluster);
    return new TikvBed(cluster, client, await mkdtemp(join(tmpdir(), 'engram-tikv-')), options);
  }

  get local(): LocalOptions {
    if (this.#options.local === 'memory') return { kind: 'memory', checkpoint: this.#checkpoint };
    const { logger } = this;
    return {
      kind: 'disk',
      path: join(this.path, 'copy'),
      openStorage: (path) =>
        openSegmentStorage({ path, clock: realClock, random: realRandom, logger, durability: 'none' }),
    };
  }

  async open(more: Partial<TikvStorageOptions> = {}): Promise<TikvStorage> {
    const { client, logger } = this;
    const prefix = more.prefix ?? 'test';
    const keys = new LogKeys(prefix);
    const root = await openRoot({ client, keys, found: { clusterId, members: [] }, timeoutMs: 5_000 });
    const common = { client, prefix, root, clock: realClock, random: realRandom, logger };
    const storage = await openTikvStorage({ ...common, ...this.#options, local: this.local, ...more });
    this.#opened.push(storage);
    return storage;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const storage of this.#opened) await storage[Symbol.asyncDispose]();
    await this.client.close(0);
    await rm(this.path, { recursive: true, force: true });
  }
}

export function connect(cluster: FakeCluster): Promise<TikvClient> {
  return TikvClient.connect({
    pdAddresses: cluster.pdAddresses,
    transport: cluster.transport,
    clock: realClock,
    random: realRandom,
  });
}

import { LogKeys, openRoot, openTikvStorage, TikvRaftStorage } from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import type { FakeCluster } from '@engram/tikv-client/testing';
import { CLUSTER_ID, type LifeStorage, MemberLife, type MemberLifeParts } from '../cluster/member-life.ts';
import type { TikvSettings } from './tikv-settings.ts';
import { TikvWay } from './tikv-way.ts';

export const PREFIX = 'sim';
export const keys = new LogKeys(PREFIX);
const START_TIMEOUT_MS = 30_000;
const PROBE_TIMEOUT_MS = 1000;
const BYTES_PER_SECOND = 1e6;

export interface TikvLifeParts extends MemberLifeParts {
  readonly settings: TikvSettings;
  readonly stores: FakeCluster;
  readonly isForgotten: () => boolean;
}

/** One life of a member on the real storage and the real client of TiKV, over the scripted stores. */
export class TikvLife extends MemberLife {
  readonly way: TikvWay;
  readonly #parts: TikvLifeParts;
  readonly #closing = new AbortController();
  #client: TikvClient | undefined;

  constructor(parts: TikvLifeParts) {
    super(parts);
    const { stores, settings, random } = parts;
    const { process } = this;
    this.#parts = parts;
    this.way = new TikvWay({ inner: stores.transport, process, random, delayMsMax: settings.logDelayMsMax });
  }

  get forgotten(): boolean {
    return this.#parts.isForgotten();
  }

  heal(): void {
    this.way.heal();
  }

  override async stop(): Promise<void> {
    await super.stop();
    this.#closing.abort(new Error('the node stops'));
    await this.#client?.close();
  }

  /** As the server opens it. */
  protected async openStorage(): Promise<LifeStorage> {
    const { stores, settings, logger, firstMembers, id, onAppending } = this.#parts;
    const { clock, random } = this.process;
    const client = await TikvClient.connect({
      pdAddresses: stores.pdAddresses,
      transport: this.way,
      clock,
      random,
      timeoutMs: START_TIMEOUT_MS,
      requestTimeoutMs: settings.logTimeoutMs,
      requestSource: `m${id}`,
    });
    this.#client = client;
    const found = firstMembers === undefined ? undefined : { clusterId: CLUSTER_ID, members: [] };
    const root = await openRoot({ client, keys, found, timeoutMs: START_TIMEOUT_MS });
    const { signal } = this.#closing;
    const raftStorage = new TikvRaftStorage({ client, keys, memberId: id, clock, random, logger, signal });
    const { segmentBytes, partBytesMax, silentMaxMs, appendTimeoutMs, sealTimeoutMs, localBytesMax } = settings;
    const storage = await openTikvStorage({
      client,
      prefix: PREFIX,
      root,
      member: id,
      local: { kind: 'memory', bytesMax: localBytesMax },
      clock,
      random,
      logger,
      segmentBytes,
      partBytesMax,
      silentMaxMs,
      appendTimeoutMs,
      sealTimeoutMs,
      safePoint: { retentionMs: 0, intervalMs: 600_000 },
    });
    const { log, values, image } = storage;
    return {
      storage: {
        log: {
          append: (batch, seal) => {
            onAppending(batch, seal);
            return log.append(batch, seal);
          },
          read: (from, either) => log.read(from, either),
          seal: (seal) => log.seal(seal),
          heldBy: (seal, either) => log.heldBy(seal, either),
        },
        values,
        image,
        [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
      },
      raftStorage,
      probe: async (either) => {
        const txn = await client.begin({ signal: either, timeoutMs: PROBE_TIMEOUT_MS });
        await txn.get(keys.root, { signal: either, timeoutMs: PROBE_TIMEOUT_MS });
      },
      imagePolicy: {
        everyBytesMin: settings.imageEveryBytes,
        everyBytesMax: 4 * settings.imageEveryBytes,
        bytesPerSecond: BYTES_PER_SECOND,
        pageBytes: settings.imagePageBytes,
        intervalMs: settings.imageIntervalMs,
      },
      feedBytesMax: settings.feedBytesMax,
    };
  }
}

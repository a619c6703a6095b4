import { Election, type ElectionView, goOnAlone, type MemberId, memberId, type RaftState } from '@engram/election';
import type { Seal } from '@engram/core';
import { Loop, SeededPace } from '@engram/loop';
import type { Log, LogBatch } from '@engram/storage';
import { LogKeys, openRoot, openTikvStorage, readRaftStates, TikvRaftStorage } from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import type { FakeCluster } from '@engram/tikv-client/testing';
import {
  CLUSTER_ID,
  electionOptions,
  type LifeStorage,
  MemberLife,
  type MemberLifeParts,
  urlOf,
} from '../cluster/member-life.ts';
import type { TikvSettings } from './tikv-settings.ts';
import { TikvWay } from './tikv-way.ts';
import type { TikvNode } from './tikv-world.ts';

export const PREFIX = 'sim';
export const keys = new LogKeys(PREFIX);
const START_TIMEOUT_MS = 30_000;
const PROBE_TIMEOUT_MS = 1000;
const BYTES_PER_SECOND = 1e6;

export interface TikvLifeParts extends MemberLifeParts {
  readonly settings: TikvSettings;
  readonly stores: FakeCluster;
  readonly node: TikvNode;
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

  /** Values that the node lacks are read at a timestamp, and PD may allocate none that is of use for a long time. */
  get slowReads(): boolean {
    return this.#parts.stores.pd.wentBack;
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

  /** As the server does it for --force-new-cluster. */
  async #goOnAlone(client: TikvClient, storageOf: (member: bigint) => TikvRaftStorage): Promise<void> {
    const { node, id } = this.#parts;
    const { random } = this.process;
    const clusterOf = (self: MemberId, state: RaftState): ElectionView =>
      new Election({ ...electionOptions, clusterId: CLUSTER_ID, self, random }, state).view;
    await goOnAlone({
      self: {
        id: memberId(id),
        name: `m${id}`,
        peerUrls: [urlOf(id)],
        clientUrls: [`http://c${id}`],
        isLearner: false,
      },
      known: [...(await readRaftStates(client, keys, START_TIMEOUT_MS)).keys()].map(memberId),
      storageOf,
      agreedBy: (states) =>
        [...states]
          .map(([self, state]) => clusterOf(self, state))
          .reduce((one, other) => (other.appliedIndex > one.appliedIndex ? other : one)).cluster,
    });
    node.forces = false;
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
    const storageOf = (member: bigint): TikvRaftStorage =>
      new TikvRaftStorage({ client, keys, memberId: member, clock, random, logger, signal });
    if (this.#parts.node.forces) await this.#goOnAlone(client, storageOf);
    const raftStorage = storageOf(id);
    const { segmentBytes, partBytesMax, silentMaxMs, appendTimeoutMs, sealTimeoutMs, localBytesMax } = settings;
    const storage = await openTikvStorage({
      client,
      prefix: PREFIX,
      root,
      member: id,
      local: { kind: 'memory', bytesMax: localBytesMax },
      clock,
      loop: new Loop({ clock, pace: new SeededPace(random) }),
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
        log: tapped(log, onAppending),
        values,
        image,
        [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
      },
      raftStorage,
      probe: async (either) => {
        const txn = await client.begin({ signal: either, timeoutMs: PROBE_TIMEOUT_MS });
        await txn.get(keys.root, { signal: either, timeoutMs: PROBE_TIMEOUT_MS });
      },
      storageEnded: client.ended,
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

/** The log as it is, which tells of each batch that is sent to it. */
function tapped(log: Log, onAppending: MemberLifeParts['onAppending']): Log {
  return new Proxy(log, {
    get(target, name) {
      if (name === 'append')
        return (batch: LogBatch, seal: Seal) => {
          onAppending(batch, seal);
          return target.append(batch, seal);
        };
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

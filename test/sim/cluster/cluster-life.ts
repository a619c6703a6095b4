import type { Logger, Seal } from '@engram/core';
import type { Member as ElectedMember } from '@engram/election';
import { ClusterMember, type PeerService } from '@engram/member';
import { defaultLimits } from '@engram/raft-ts';
import {
  type Prng,
  RemoteLog,
  type SharedLog,
  SharedLogStorage,
  type SimHost,
  type SimNetwork,
  type SimProcess,
  SimStorageFaults,
} from '@engram/sim';
import type { LogBatch } from '@engram/storage';
import { Face, storeSettings } from '../world/face.ts';
import type { Served } from '../world/served.ts';
import type { ClusterSettings } from './settings.ts';
import type { NodeDisks } from './cluster-node.ts';
import { type ClusterImages, imagePolicyOf, LifeImages } from './cluster-images.ts';
import { PeerLinks } from './peer-links.ts';
import { SimRaftStorage } from './sim-raft-storage.ts';

export interface ClusterLifeParts {
  readonly id: bigint;
  readonly host: SimHost;
  readonly disks: NodeDisks;
  readonly random: Prng;
  readonly settings: ClusterSettings;
  readonly log: SharedLog;
  readonly images: ClusterImages;
  readonly network: SimNetwork;
  readonly logger: Logger;
  /** The first members of a new cluster. Undefined if the member joins the cluster of `peers`. */
  readonly firstMembers: readonly ElectedMember[] | undefined;
  readonly peers: readonly ElectedMember[];
  readonly hostOf: (member: bigint) => SimHost;
  readonly serviceOf: (process: SimProcess) => PeerService | undefined;
  readonly onAppending: (batch: LogBatch, seal: Seal) => void;
  readonly onCompacted: (compactRevision: number) => void;
  readonly onRemoved: () => void;
  /** Called when the process must end. */
  readonly onFatal: (error: Error) => void;
}

const never = new AbortController().signal;
const CLUSTER_ID = 0xc1n;
const TICK_MS = 100;
export const urlOf = (id: bigint): string => `http://127.0.0.1:${1000 + Number(id % 60_000n)}`;

/** One life of a member: a process that runs the real member on simulated ports. */
export class ClusterLife implements Served {
  readonly id: bigint;
  readonly process: SimProcess;
  readonly log: RemoteLog;
  readonly raft: SimRaftStorage;
  readonly links: PeerLinks;
  readonly values: SimStorageFaults;
  readonly failingReads = false;
  stopping = false;
  readonly #parts: ClusterLifeParts;
  #member: ClusterMember | undefined;
  #face: Face | undefined;

  constructor(parts: ClusterLifeParts) {
    const { id, host, disks, random, settings, log, network, hostOf, serviceOf, onAppending } = parts;
    this.#parts = parts;
    this.id = id;
    this.process = host.start();
    const { process } = this;
    this.log = new RemoteLog({
      log,
      process,
      random,
      delayMsMax: settings.logDelayMsMax,
      timeoutMs: settings.logTimeoutMs,
      onAppending,
    });
    this.values = new SimStorageFaults(process, random, {
      delayMsMax: settings.storageDelayMsMax,
      atOnce: settings.storageAtOnce,
      cold: settings.storageCold,
    });
    this.raft = new SimRaftStorage(disks.raft, process, random, settings.raftDelayMsMax);
    this.links = new PeerLinks({ network, self: id, process, hostOf, serviceOf });
  }

  get forgotten(): boolean {
    return this.#parts.images.forgotten.has(this.id);
  }

  /** Undefined if the member does not serve yet, or is dead. */
  get face(): Face | undefined {
    return this.process.alive ? this.#face : undefined;
  }

  get member(): ClusterMember | undefined {
    return this.process.alive ? this.#member : undefined;
  }

  get leads(): boolean {
    return this.member?.member.store.leadership !== undefined;
  }

  async open(): Promise<void> {
    const { id, disks, settings, logger, firstMembers, peers, log } = this.#parts;
    const { onCompacted, onRemoved, onFatal } = this.#parts;
    const { clock, random } = this.process;
    const local = new SharedLogStorage(log, disks.copy, this.values);
    const shared = settings.imageEveryBytes === 0 ? undefined : this.#shared();
    // A member that joins keeps the connections that it was given until the leader has told it of others.
    this.links.setMembers(peers);
    this.#member = await ClusterMember.start({
      storage: {
        log: shared?.log(this.log) ?? this.log,
        values: shared?.values(local.values) ?? local.values,
        ...(shared === undefined ? {} : { image: shared }),
        [Symbol.asyncDispose]: async () => {
          await this.log.close();
          await local[Symbol.asyncDispose]();
        },
      },
      raftStorage: this.raft,
      network: this.links,
      identity: {
        clusterId: CLUSTER_ID,
        memberId: id,
        name: `m${id}`,
        peerUrls: [urlOf(id)],
        clientUrls: [`http://c${id}`],
      },
      election: {
        tickMs: TICK_MS,
        limits: defaultLimits,
        rules: { strict: true, learnersMax: 1 },
        snapshotEntries: 20,
        keptEntries: 5,
      },
      token: 'sim',
      imagePolicy: imagePolicyOf(settings.imageEveryBytes, settings.imagePageBytes),
      probeStorage: (signal) => this.log.probe(signal),
      firstMembers,
      settings: storeSettings(settings),
      limits: {},
      version: '3.7.0',
      compaction: { mode: 'off' },
      clock,
      random,
      logger,
      storeObserver: { compacted: onCompacted },
      onRemoved,
      onFatal,
    });
    // Clients are served once the member is ready, as in the server.
    await this.#member.ready(never);
    this.#face = new Face(this.#member.member.store);
  }

  #shared(): LifeImages {
    const { id, images, random, settings } = this.#parts;
    const { process } = this;
    return new LifeImages({ id, images, process, random: random.fork('images'), delayMsMax: settings.logDelayMsMax });
  }

  /** Stops the member as SIGTERM does. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.#member![Symbol.asyncDispose]();
  }
}

import type { Logger, Seal } from '@engram/core';
import type { Member as ElectedMember, RaftStorage } from '@engram/election';
import { ClusterMember, type ImagePolicy, type PeerService } from '@engram/member';
import { defaultLimits } from '@engram/raft-ts';
import type { Prng, SimHost, SimNetwork, SimProcess } from '@engram/sim';
import type { LogBatch, SharedImage, Storage } from '@engram/storage';
import { Desk } from '../users/desk.ts';
import { Face, storeSettings } from '../world/face.ts';
import type { Served } from '../world/served.ts';
import { PeerLinks } from './peer-links.ts';
import type { MemberSettings } from './settings.ts';
import { NetworkOfBefore, ServiceOfBefore } from './version-before.ts';

export interface MemberLifeParts {
  readonly id: bigint;
  readonly host: SimHost;
  readonly random: Prng;
  readonly settings: MemberSettings;
  readonly network: SimNetwork;
  readonly logger: Logger;
  /** The first members of a new cluster. Undefined if the member joins the cluster of `peers`. */
  readonly firstMembers: readonly ElectedMember[] | undefined;
  readonly peers: readonly ElectedMember[];
  /** The members as of now. */
  readonly readPeers: () => Promise<readonly ElectedMember[]>;
  /** The host to which a member's address leads now. */
  readonly hostOf: (member: bigint) => SimHost;
  readonly serviceOf: (process: SimProcess) => PeerService | undefined;
  /** Its program is of the version before. */
  readonly before?: boolean;
  /** See `PeerLinksOptions`. */
  readonly mayRefuse?: (peer: bigint, fault: string) => boolean;
  readonly onAppending: (batch: LogBatch, seal: Seal) => void;
  readonly onCompacted: (compactRevision: number) => void;
  readonly onRemoved: () => void;
  /** Called when the process must end. */
  readonly onFatal: (error: Error) => void;
}

/** What a member has outside its process. */
export interface LifeStorage {
  readonly storage: Storage & { readonly image?: SharedImage };
  readonly raftStorage: RaftStorage;
  readonly probe: (signal: AbortSignal) => Promise<void>;
  /** See `ClusterMemberOptions`. */
  readonly storageEnded?: AbortSignal;
  readonly imagePolicy: ImagePolicy;
  /** See `ClusterMemberOptions`. */
  readonly feedBytesMax?: number;
}

const never = new AbortController().signal;
export const CLUSTER_ID = 0xc1n;
const TICK_MS = 100;
export const electionOptions = {
  tickMs: TICK_MS,
  limits: defaultLimits,
  rules: { strict: true, learnersMax: 1 },
  snapshotEntries: 20,
  keptEntries: 5,
} as const;
export const urlOf = (id: bigint): string => `http://127.0.0.1:${1000 + Number(id % 60_000n)}`;

/** What the operator may have set otherwise at each member. The same in all its lives. */
interface MemberFlags {
  readonly electionTicks: number;
  readonly maxTxnOps: number;
  readonly quotaBytes: number;
}

function flagsOf({ host, settings }: Pick<MemberLifeParts, 'host' | 'settings'>): MemberFlags {
  const { electionTicks } = defaultLimits;
  if (!settings.unlike) return { electionTicks, maxTxnOps: 128, quotaBytes: settings.quotaBytes };
  const random = host.options.random.fork('flags');
  return {
    electionTicks: random.pick([electionTicks, electionTicks, 2 * electionTicks]),
    maxTxnOps: random.pick([1, 3, 128]),
    quotaBytes: random.pick([0, 0, 4000]),
  };
}

/** One life of a member: a process that runs the real member on simulated ports. */
export abstract class MemberLife implements Served {
  readonly id: bigint;
  readonly process: SimProcess;
  readonly links: PeerLinks;
  readonly failingReads: boolean = false;
  stopping = false;
  readonly #parts: MemberLifeParts;
  #member: ClusterMember | undefined;
  #face: Face | undefined;

  constructor(parts: MemberLifeParts) {
    const { id, host, network, hostOf, serviceOf, mayRefuse } = parts;
    this.#parts = parts;
    this.id = id;
    this.process = host.start();
    this.links = new PeerLinks({ network, self: id, process: this.process, hostOf, serviceOf, mayRefuse });
  }

  /** True if an image was published without waiting for the member. */
  abstract get forgotten(): boolean;

  /** Ends all faults of the member's storage. */
  abstract heal(): void;

  protected abstract openStorage(): Promise<LifeStorage>;

  /** Undefined if the member does not serve yet, or is dead. */
  get face(): Face | undefined {
    return this.process.alive ? this.#face : undefined;
  }

  /** What it does for the others. Undefined if it does not listen yet, or is dead. */
  get service(): PeerService | undefined {
    const { member } = this;
    return member === undefined || this.#parts.before !== true ? member?.service : new ServiceOfBefore(member.service);
  }

  get member(): ClusterMember | undefined {
    return this.process.alive ? this.#member : undefined;
  }

  get leads(): boolean {
    return this.member?.member.stats.leadsIn !== undefined;
  }

  async open(): Promise<void> {
    const { id, settings, logger, firstMembers, peers, readPeers, onCompacted, onRemoved, onFatal } = this.#parts;
    const { clock, random } = this.process;
    const flags = flagsOf(this.#parts);
    // A member that joins keeps the connections that it was given until the leader has told it of others.
    this.links.setMembers(peers);
    const { storage, raftStorage, probe, storageEnded, imagePolicy, feedBytesMax } = await this.openStorage();
    const ofStore = storeSettings(settings, { clock, random });
    this.#member = await ClusterMember.start({
      storage,
      raftStorage,
      network: this.#parts.before === true ? new NetworkOfBefore(this.links) : this.links,
      inlineBytesMax: settings.inlineBytesMax,
      identity: {
        clusterId: CLUSTER_ID,
        memberId: id,
        name: `m${id}`,
        peerUrls: [urlOf(id)],
        clientUrls: [`http://c${id}`],
      },
      election: { ...electionOptions, limits: { ...defaultLimits, electionTicks: flags.electionTicks } },
      token: 'sim',
      imagePolicy,
      ...(feedBytesMax === undefined ? {} : { feedBytesMax }),
      probeStorage: probe,
      ...(storageEnded === undefined ? {} : { storageEnded }),
      firstMembers,
      ...(firstMembers === undefined ? { introduction: { members: peers, read: readPeers } } : {}),
      settings: { ...ofStore, quotaBytes: flags.quotaBytes },
      limits: { maxTxnOps: flags.maxTxnOps },
      version: '3.7.0',
      compaction: { mode: 'off' },
      clock,
      random,
      logger,
      storeObserver: { compacted: onCompacted },
      onRemoved,
      onFatal,
    });
    const { store, stats, cluster } = this.#member.member;
    const { users } = settings;
    const parts = { store, cluster, process: this.process, loop: ofStore.loop, logger };
    const desk = users === 'none' ? undefined : new Desk({ ...parts, users });
    // Clients are served once the member is ready, as in the server.
    await this.#member.ready(never);
    this.#face = new Face({ store, stats, desk });
  }

  /** Stops the member as SIGTERM does. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.#member![Symbol.asyncDispose]();
  }
}

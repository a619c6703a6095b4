import type { Following } from '@engram/backend';
import type { Clock, Logger, Random, SharedBudget, Tracer } from '@engram/core';
import type { Loop } from '@engram/loop';
import type { AuthSettings, Member, MemberOptions } from '@engram/member';
import type { LocalShare, LogHolder } from '@engram/storage';
import type { BoundedResource, PeerReading } from '@engram/telemetry';
import type { BoundPorts } from './bound-ports.ts';
import type { NodeConfig } from '../config/node-config.ts';

export interface StartParts {
  readonly clock: Clock;
  readonly loop: Loop;
  readonly random: Random;
  readonly logger: Logger;
  readonly observers: Pick<MemberOptions, 'storeObserver' | 'onRecovery'>;
  readonly watcherBytes: SharedBudget;
  /** Undefined: calls are not traced. */
  readonly tracer: Tracer | undefined;
  /** How users log in. */
  readonly auth: AuthSettings;
  readonly version: string;
  /** Bound, and not served yet. */
  readonly ports: BoundPorts;
  /** Undefined: the store follows no other. */
  readonly following?: Following | undefined;
  /** Called for each measured time from another member and back. */
  readonly onPeerRoundTrip: (member: bigint, ms: number) => void;
  readonly onFatal: (error: Error) => void;
  /** Called when the cluster has removed this member. */
  readonly onRemoved: () => void;
}

/** The ids of this member and its cluster. */
export interface NodeIdentity {
  readonly clusterId: bigint;
  readonly memberId: bigint;
}

export interface StartedMember {
  readonly member: Member;
  readonly identity: NodeIdentity;
  /** Resolves when the member can serve: at once if it is alone, in a cluster after a leader has answered it. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** How much of an image is on the member's disk. Undefined if it keeps no bytes besides TiKV, or shares none. */
  readonly localBytes: () => LocalShare | undefined;
  /** The members that trims of the log, or images, wait for. Empty if this member does not lead. */
  readonly logHolders: () => readonly LogHolder[];
  /** The resources that only this kind of member has. */
  readonly resources: readonly BoundedResource[];
  /** What passes between the member and each other member. */
  readonly peers: Iterable<readonly [member: bigint, traffic: PeerReading]>;
}

/** What a member is started with, in a cluster or alone. */
export function memberOptions(
  config: NodeConfig,
  { clock, loop, random, logger, observers, watcherBytes, tracer, auth, version, following, onFatal }: StartParts,
  ids: NodeIdentity,
): Omit<MemberOptions, 'storage'> {
  return {
    identity: { ...ids, name: config.name, peerUrls: config.advertisePeerUrls, clientUrls: config.advertiseClientUrls },
    settings: {
      minLeaseTtlSeconds: Math.ceil((1.5 * config.electionTimeoutMs) / 1000),
      quotaBytes: config.quotaBytes ?? 0,
      cacheBytesMax: config.memory.valueCacheBytes,
      waitingBytesMax: config.memory.logQueueBytes,
      txnAnswerBytesMax: config.memory.answerBytes,
      leasesMax: config.memory.leases,
      imagesBytesMax: config.memory.imagesBytes,
      watchBacklogBytesMax: config.memory.watchBacklogBytes,
      requestTimeoutMs: 5000 + 2 * config.electionTimeoutMs,
      confirmedWithinMs: config.electionTimeoutMs / 2,
      watchProgressIntervalMs: config.watchProgressIntervalMs,
      loop,
      ...(following === undefined ? {} : { following }),
    },
    limits: {
      maxRequestBytes: config.maxRequestBytes,
      maxTxnOps: config.maxTxnOps,
      electionTimeoutMs: config.electionTimeoutMs,
    },
    version,
    compaction: config.compaction,
    clock,
    random,
    logger,
    ...observers,
    watcherBytes,
    tracer,
    auth,
    onFatal,
  };
}

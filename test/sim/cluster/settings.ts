import type { Prng } from '@engram/sim';
import { drawSettings, plainSettings, type Settings } from '../plan/settings.ts';

/** The settings of the members of a cluster, whatever they share, in addition to those of a node. */
export interface MemberSettings extends Settings {
  /** Voters at the start. */
  readonly members: number;
  /** Maximum deviation of a node's clock rate from an exact clock. Each node has its own rate. */
  readonly clockSkew: number;
  /** Delay of one way between two members. */
  readonly networkDelayMsMax: number;
  /** The part of Raft's messages that is lost. Packets of a connection are sent again. */
  readonly networkLost: number;
  readonly networkTwice: number;
  /** Members are started with flags of their own: election timeout, size of a transaction, quota. */
  readonly unlike: boolean;
  /** The member, one of the first, that lies within its certificate. 0: none. */
  readonly liar: number;
  /** The liar also claims elections that it has not won. */
  readonly liarClaims: boolean;
  /** So many of the first members begin with the version before. */
  readonly membersBefore: number;
  /** A longer answer of the leader is read from the own copy of the member that has passed the transaction on. */
  readonly inlineBytesMax: number;
  /** Delay of one way between a member and shared storage. */
  readonly logDelayMsMax: number;
  readonly logTimeoutMs: number;
  /** Bytes of the log after which an image is written; 0: no images, and the log is not trimmed. */
  readonly imageEveryBytes: number;
  readonly imagePageBytes: number;
}

/** The settings of a cluster's run over a model of the shared log. */
export interface ClusterSettings extends MemberSettings {
  /** Raft state becomes durable within this time. */
  readonly raftDelayMsMax: number;
}

export const plainClusterSettings: ClusterSettings = {
  ...plainSettings,
  members: 3,
  clockSkew: 0,
  networkDelayMsMax: 0.5,
  networkLost: 0,
  networkTwice: 0,
  unlike: false,
  liar: 0,
  liarClaims: false,
  membersBefore: 0,
  inlineBytesMax: 64 * 1024,
  logDelayMsMax: 1,
  logTimeoutMs: 2000,
  raftDelayMsMax: 1,
  imageEveryBytes: 0,
  imagePageBytes: 65_536,
};

/** Draws each setting independently: the value of production or a rare one. */
export function drawClusterSettings(random: Prng): ClusterSettings {
  const pick = <Value>(...values: readonly Value[]): Value => random.pick(values);
  const drawn = drawSettings(random);
  const settings: ClusterSettings = {
    ...drawn,
    quotaBytes: 0,
    clockRate: 1,
    turnMsMax: pick(0, 0.1, 0.1, 2),
    lateMsMax: pick(0, 1, 20),
    requestTimeoutMs: pick(2000, 7000, 7000),
    members: pick(3, 3, 3, 3, 5),
    clockSkew: pick(0, 0.001, 0.03),
    networkDelayMsMax: pick(0.2, 1, 10, 60),
    networkLost: pick(0, 0, 0.01, 0.1),
    networkTwice: pick(0, 0, 0.05),
    logDelayMsMax: pick(0.2, 1, 10, 50),
    logTimeoutMs: pick(300, 2000, 5000),
    raftDelayMsMax: pick(0.2, 1, 20),
    imageEveryBytes: pick(0, 100, 1000),
    imagePageBytes: pick(60, 300, 65_536),
    unlike: random.chance(0.3),
    liar: random.chance(0.25) ? random.between(1, 3) : 0,
    liarClaims: random.chance(0.5),
    membersBefore: random.chance(0.25) ? random.between(1, 3) : 0,
    inlineBytesMax: pick(1, 100, 64 * 1024),
  };
  return withoutStrangers(settings);
}

/** With users, nobody lies: a liar may say that it calls for anybody. Nor is there a member of the version before, which knows none. */
export const withoutStrangers = (settings: ClusterSettings): ClusterSettings =>
  settings.users === 'none' ? settings : { ...settings, liar: 0, membersBefore: 0 };

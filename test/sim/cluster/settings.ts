import type { Prng } from '@engram/sim';
import { drawSettings, plainSettings, type Settings } from '../plan/settings.ts';

/** What a run of a cluster is like, beside what its nodes are like. */
export interface ClusterSettings extends Settings {
  /** Voters that it begins with. */
  readonly members: number;
  /** Each node's clocks run by their own rate, up to so far from an exact one. */
  readonly clockSkew: number;
  /** One way between two members. */
  readonly networkDelayMsMax: number;
  /** Of Raft's messages; what is on a connection is sent again. */
  readonly networkLost: number;
  readonly networkTwice: number;
  /** One way between a member and the log. */
  readonly logDelayMsMax: number;
  readonly logTimeoutMs: number;
  /** Raft state becomes durable within so long. */
  readonly raftDelayMsMax: number;
  /** The log's bytes for an image of the store; 0: no images, and the log stays. */
  readonly imageEveryBytes: number;
  readonly imagePageBytes: number;
}

export const plainClusterSettings: ClusterSettings = {
  ...plainSettings,
  members: 3,
  clockSkew: 0,
  networkDelayMsMax: 0.5,
  networkLost: 0,
  networkTwice: 0,
  logDelayMsMax: 1,
  logTimeoutMs: 2000,
  raftDelayMsMax: 1,
  imageEveryBytes: 0,
  imagePageBytes: 65_536,
};

/** Each setting is that of production or a rare one, apart from the others. */
export function drawClusterSettings(random: Prng): ClusterSettings {
  const pick = <Value>(...values: readonly Value[]): Value => random.pick(values);
  const settings: ClusterSettings = {
    ...drawSettings(random),
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
  };
  return settings;
}

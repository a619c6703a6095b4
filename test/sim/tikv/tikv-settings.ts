import type { Prng } from '@engram/sim';
import { drawClusterSettings, type MemberSettings, plainClusterSettings } from '../cluster/settings.ts';

/** The settings of a run on the scripted stores. */
export interface TikvSettings extends MemberSettings {
  readonly segmentBytes: number;
  /** Larger values of the log and of images are cut into parts. */
  readonly partBytesMax: number;
  /** A member that is silent for longer delays no trim. */
  readonly silentMaxMs: number;
  readonly appendTimeoutMs: number;
  readonly sealTimeoutMs: number;
  readonly imageIntervalMs: number;
  /** The most bytes that a member keeps of what it has read. */
  readonly localBytesMax: number;
  /** The most bytes of batches that a leader keeps for its followers. */
  readonly feedBytesMax: number;
}

const MIB = 1 << 20;

export const plainTikvSettings: TikvSettings = {
  ...plainClusterSettings,
  logTimeoutMs: 1000,
  imageEveryBytes: 2000,
  imagePageBytes: 4096,
  segmentBytes: 4096,
  partBytesMax: 4 * MIB - 4096,
  silentMaxMs: 5000,
  appendTimeoutMs: 5000,
  sealTimeoutMs: 10_000,
  imageIntervalMs: 500,
  localBytesMax: 64 * MIB,
  feedBytesMax: 32 * MIB,
};

/** Draws each setting independently: the value of production or a rare one. */
export function drawTikvSettings(random: Prng): TikvSettings {
  const pick = <Value>(...values: readonly Value[]): Value => random.pick(values);
  return {
    ...drawClusterSettings(random),
    members: pick(3, 3, 3, 3, 1),
    liar: 0,
    logDelayMsMax: pick(0.2, 1, 5, 20),
    logTimeoutMs: pick(300, 1000, 5000),
    imageEveryBytes: pick(100, 500, 2000),
    imagePageBytes: pick(60, 300, 65_536),
    segmentBytes: pick(200, 600, 2000),
    partBytesMax: pick(300, 1000, 4 * MIB - 4096, 4 * MIB - 4096),
    silentMaxMs: pick(2500, 5000, 8000),
    appendTimeoutMs: pick(1000, 5000),
    sealTimeoutMs: pick(2000, 10_000),
    imageIntervalMs: pick(300, 500, 1500),
    localBytesMax: pick(1, 2000, 64 * MIB),
    feedBytesMax: pick(1, 1000, 32 * MIB),
  };
}

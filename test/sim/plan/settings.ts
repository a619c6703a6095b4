import type { Prng } from '@engram/sim';

/** Whether clients have users, and what their tokens are. */
export type UsersSetting = 'none' | 'simple' | 'jwt';

/** The settings of a run. Small numbers make situations common that are rare in production. */
export interface Settings {
  /** Number of keys. With fewer keys, requests conflict more often. */
  readonly keys: number;
  readonly valueBytesMax: number;
  /** Ids that clients choose for leases. */
  readonly leases: number;
  readonly watchers: number;
  /** The most changes of writes that are appended together. */
  readonly sharingChangesMax: number;
  readonly cacheBytesMax: number;
  readonly checkpointEveryBytes: number;
  readonly batchBytesMax: number;
  readonly waitingBytesMax: number;
  readonly requestTimeoutMs: number;
  readonly watchProgressIntervalMs: number;
  /** 0: none. */
  readonly quotaBytes: number;
  /** Maximum time for which a snapshot may delay a compaction. */
  readonly imageHoldMaxMs: number;
  readonly clockRate: number;
  readonly turnMsMax: number;
  readonly lateMsMax: number;
  readonly storageDelayMsMax: number;
  /** The part of storage operations that end without delay. */
  readonly storageAtOnce: number;
  /** True if every read waits for storage. */
  readonly storageCold: boolean;
  /** The storage of a node alone: the one in memory, or the one of production on a simulated disk. */
  readonly disk: 'memory' | 'segments';
  readonly segmentBytes: number;
  /** The part of the lives on a simulated disk in which it loses power, or fails, mostly within the start. */
  readonly startCrashes: number;
  readonly users: UsersSetting;
}

const MIB = 1 << 20;

/** The settings of a node in production. Segments are smaller, because the disk is in memory. */
export const plainSettings: Settings = {
  keys: 12,
  valueBytesMax: 40,
  leases: 6,
  watchers: 3,
  sharingChangesMax: 1000,
  cacheBytesMax: 64 * MIB,
  checkpointEveryBytes: 128 * MIB,
  batchBytesMax: 4 * MIB,
  waitingBytesMax: 256 * MIB,
  requestTimeoutMs: 7000,
  watchProgressIntervalMs: 600_000,
  quotaBytes: 0,
  imageHoldMaxMs: 600_000,
  clockRate: 1,
  turnMsMax: 0.1,
  lateMsMax: 1,
  storageDelayMsMax: 1,
  storageAtOnce: 0.5,
  storageCold: false,
  disk: 'segments',
  segmentBytes: 1 << 16,
  startCrashes: 0,
  users: 'none',
};

/** `drawn`, with the values of `plain` for the named settings. Throws for an unknown name. */
export function withPlain<Of extends object>(drawn: Of, plain: Of, names: readonly string[] = []): Of {
  const production = new Map<string, unknown>(Object.entries(plain));
  const settings = { ...drawn };
  for (const name of names) {
    if (!production.has(name)) throw new Error(`PLAIN has no list of settings: ${name}`);
    Object.assign(settings, { [name]: production.get(name) });
  }
  return settings;
}

/** The part of runs that read every value from storage, keep no cache, and append each write of several changes alone. */
const FORGETFUL = 0.25;

/** The part of runs with users. */
const WITH_USERS = 0.25;

/** Draws each setting: the value of production or a rare one. Most are drawn independently. */
export function drawSettings(random: Prng): Settings {
  const pick = <Value>(...values: readonly Value[]): Value => random.pick(values);
  const settings: Settings = {
    keys: pick(3, 6, 12, 12, 30),
    valueBytesMax: pick(10, 40, 40, 400),
    leases: pick(1, 2, 6),
    watchers: pick(0, 1, 3, 6),
    sharingChangesMax: pick(1, 1, 2, 5, 1000),
    cacheBytesMax: pick(0, 600, 4000, 64 * MIB),
    checkpointEveryBytes: pick(1, 300, 300, 3000, 128 * MIB),
    batchBytesMax: pick(1, 150, 4 * MIB, 4 * MIB),
    waitingBytesMax: pick(400, 4000, 256 * MIB, 256 * MIB),
    requestTimeoutMs: pick(300, 2000, 7000, 7000),
    watchProgressIntervalMs: pick(50, 1000, 600_000),
    quotaBytes: pick(0, 0, 0, 0, 6000),
    imageHoldMaxMs: pick(500, 600_000),
    clockRate: pick(0.97, 1, 1, 1.03),
    turnMsMax: pick(0, 0.1, 0.1, 2, 20),
    lateMsMax: pick(0, 1, 50),
    storageDelayMsMax: pick(0.1, 1, 1, 20, 200),
    storageAtOnce: pick(0, 0.5, 0.95),
    storageCold: random.chance(0.5),
    ...drawDisk(random.fork('disk')),
    users: drawUsers(random.fork('users')),
  };
  if (!random.chance(FORGETFUL)) return settings;
  return { ...settings, sharingChangesMax: 1, cacheBytesMax: 0, storageCold: true, checkpointEveryBytes: pick(1, 300) };
}

const drawUsers = (random: Prng): UsersSetting =>
  random.chance(WITH_USERS) ? random.pick(['simple', 'jwt'] as const) : 'none';

/** Of three nodes, two have a disk. */
function drawDisk(random: Prng): Pick<Settings, 'disk' | 'segmentBytes' | 'startCrashes'> {
  return {
    disk: random.pick(['memory', 'segments', 'segments'] as const),
    segmentBytes: random.pick([4096, 8192, 1 << 16]),
    startCrashes: random.pick([0, 0.2, 0.6]),
  };
}

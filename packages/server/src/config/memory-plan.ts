import { totalmem } from 'node:os';
import { ConfigError, type FlagValues } from '../flags/flag-values.ts';

/** Bounds on a member's memory, by purpose. In bytes, except for `streams`, `connections` and `leases`. */
export interface MemoryBounds {
  /** The limit that the bounds derive from. Undefined if none is set. */
  readonly limitBytes: number | undefined;
  /** Bounds of the requests, and of the answers, of all clients: see ClientBudgets of core. */
  readonly requestBytes: number;
  readonly answerBytes: number;
  readonly streams: number;
  /** Sockets of clients. Undefined without a limit: what descriptors allow. */
  readonly connections: number | undefined;
  /** Bounds the watchers of all clients. */
  readonly watcherBytes: number;
  /** Bounds the writes that wait for the log. */
  readonly logQueueBytes: number;
  /** Bounds the events for watchers that read history. */
  readonly watchBacklogBytes: number;
  readonly valueCacheBytes: number;
  /** For --local-values=memory. */
  readonly localValuesBytes: number;
  /** Of a member with a copy on its disk: batches that wait for the disk, and what was read from TiKV lately. */
  readonly copyQueueBytes: number;
  readonly copyCacheBytes: number;
  /** The newest batches, which a leader keeps for its followers. */
  readonly followerFeedBytes: number;
  /** The most leases. */
  readonly leases: number;
  /** The images that snapshots hold. */
  readonly imagesBytes: number;
}

const MIB = 1024 * 1024;
/** The memory of an idle member: runtime, code, young generation, and the buffers of sockets and of the log. */
const OWN_BYTES = 160 * MIB;
/** With a lower limit a member could not hold a few requests of usual size. */
const MEMORY_LIMIT_MIN_BYTES = 256 * MIB;
/**
 * What of a control group's memory the bounds follow from. Beyond them come garbage between two collections and the kernel's own part,
 * and the kernel ends a process that goes above. Measured: up to 422 MiB with a limit of 384, a tenth more.
 */
const CONTROL_GROUP_SHARE = 7 / 8;
/** An open stream, with the state of its handler. */
const STREAM_BYTES = 2 * 1024;
/** A lease without keys. */
const LEASE_BYTES = 512;
/** An idle connection, measured: 12 and 62 KiB. */
const CONNECTION_BYTES = { plain: 16 * 1024, secure: 64 * 1024 };
const IMAGES_BYTES_MAX = 256 * MIB;

/**
 * The share of each bound in the limit less OWN_BYTES. A member has values in memory, or a copy on its disk, not both. So
 * the bounds of one member together are at most seven eighths. The rest is for the index, which grows with the data, and for
 * garbage that is not collected yet.
 */
const shares = {
  requestBytes: 1 / 8,
  answerBytes: 1 / 8,
  streamBytes: 1 / 32,
  connectionBytes: 1 / 8,
  watcherBytes: 1 / 32,
  logQueueBytes: 1 / 16,
  watchBacklogBytes: 1 / 32,
  valueCacheBytes: 1 / 8,
  localValuesBytes: 3 / 32,
  copyQueueBytes: 1 / 16,
  copyCacheBytes: 1 / 32,
  followerFeedBytes: 1 / 32,
  leaseBytes: 1 / 16,
  imagesBytes: 1 / 32,
};

/**
 * All bounds on memory. A given flag takes precedence. The others have their default, or their share of the limit if that
 * is less. Throws ConfigError for a limit that is too low, and for bounds of nothing.
 *
 * `isSecure` tells whether any client is served over TLS, which takes more memory. `constrainedBytes` is the
 * memory that the process's control group allows (node: process.constrainedMemory): an eighth of it stays as room above
 * the limit.
 */
export function memoryBounds(
  values: FlagValues,
  warnings: string[],
  isSecure: boolean,
  constrainedBytes: number = process.constrainedMemory(),
  machineBytes: number = totalmem(),
): MemoryBounds {
  const limitBytes = limitOf(values, warnings, constrainedBytes, machineBytes);
  const spareBytes = limitBytes === undefined ? Number.POSITIVE_INFINITY : limitBytes - OWN_BYTES;
  const bound = (flag: string, share: number): number => {
    const value = values.number(flag);
    return values.isSet(flag) ? value : Math.min(value, Math.floor(share));
  };
  const bounds = {
    limitBytes,
    requestBytes: bound('max-received-bytes', shares.requestBytes * spareBytes),
    answerBytes: bound('max-answer-bytes', shares.answerBytes * spareBytes),
    streams: bound('max-streams', (shares.streamBytes * spareBytes) / STREAM_BYTES),
    connections:
      limitBytes === undefined
        ? undefined
        : Math.floor((shares.connectionBytes * spareBytes) / CONNECTION_BYTES[isSecure ? 'secure' : 'plain']),
    watcherBytes: bound('max-watcher-bytes', shares.watcherBytes * spareBytes),
    logQueueBytes: bound('log-queue-bytes', shares.logQueueBytes * spareBytes),
    watchBacklogBytes: bound('watch-backlog-bytes', shares.watchBacklogBytes * spareBytes),
    valueCacheBytes: bound('value-cache-bytes', shares.valueCacheBytes * spareBytes),
    localValuesBytes: bound('local-values-bytes', shares.localValuesBytes * spareBytes),
    copyQueueBytes: bound('copy-queue-bytes', shares.copyQueueBytes * spareBytes),
    copyCacheBytes: bound('copy-cache-bytes', shares.copyCacheBytes * spareBytes),
    followerFeedBytes: bound('follower-feed-bytes', shares.followerFeedBytes * spareBytes),
    leases: bound('max-leases', (shares.leaseBytes * spareBytes) / LEASE_BYTES),
    imagesBytes: Math.min(IMAGES_BYTES_MAX, Math.floor(shares.imagesBytes * spareBytes)),
  };
  for (const flag of [
    'max-received-bytes',
    'max-answer-bytes',
    'max-streams',
    'max-watcher-bytes',
    'max-leases',
    'log-queue-bytes',
  ]) {
    if (values.isSet(flag) && values.number(flag) === 0) throw new ConfigError(`--${flag} must be above 0`);
  }
  return bounds;
}

function limitOf(
  values: FlagValues,
  warnings: string[],
  constrainedBytes: number,
  machineBytes: number,
): number | undefined {
  const given = values.number('memory-limit');
  if (given < 0) return undefined;
  if (given > 0) {
    if (given >= MEMORY_LIMIT_MIN_BYTES) return given;
    throw new ConfigError(`--memory-limit=${given}: a node needs at least ${MEMORY_LIMIT_MIN_BYTES} bytes`);
  }
  // Without a bound, the system reports 0, or more memory than the machine has.
  if (constrainedBytes <= 0 || constrainedBytes >= machineBytes) return undefined;
  const limitBytes = Math.floor(CONTROL_GROUP_SHARE * constrainedBytes);
  if (limitBytes >= MEMORY_LIMIT_MIN_BYTES) return limitBytes;
  const neededBytes = Math.ceil(MEMORY_LIMIT_MIN_BYTES / CONTROL_GROUP_SHARE);
  warnings.push(`the control group allows ${constrainedBytes} bytes of memory: a node needs at least ${neededBytes}`);
  return MEMORY_LIMIT_MIN_BYTES;
}

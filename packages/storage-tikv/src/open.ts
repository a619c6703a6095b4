import { type Clock, joinU64, type Logger, logPosition, type Random } from '@engram/core';
import { Lifetime, StorageOpenError } from '@engram/storage';
import { isTikvError, type TikvClient } from '@engram/tikv-client';
import { NewerFormat } from './batch-format.ts';
import { emptyChain } from './chain.ts';
import type { ClusterRoot } from './cluster-root.ts';
import { LocalCopy, type LocalCopyOptions, type OpenCopyStorage } from './local-copy.ts';
import { CheckpointMemory, DiskValues, MemoryValues } from './local-values.ts';
import { LogIndex } from './log-index.ts';
import { LogKeys } from './log-keys.ts';
import type { LogSource } from './log-source.ts';
import { LogWriter } from './log-writer.ts';
import { NodeBytes } from './node-bytes.ts';
import { endOf, RecentBatches } from './recent-batches.ts';
import { RecordLookup } from './record-lookup.ts';
import { SegmentRegions } from './segment-regions.ts';
import { TikvLog } from './tikv-log.ts';
import { TikvStorage } from './tikv-storage.ts';
import { TikvValues } from './tikv-values.ts';
import { TimestampPool } from './timestamp-pool.ts';

/** Where a node has the bytes of versions beside TiKV. */
export type LocalOptions =
  /** A copy of the log in a directory of its own, which may be lost, and is fetched again then. */
  | { readonly kind: 'disk'; readonly path: string; readonly openStorage: OpenCopyStorage }
  /** Only what was used last; all else is read from TiKV, batch by batch. */
  | { readonly kind: 'memory'; readonly bytesMax?: number; readonly checkpoint?: CheckpointMemory };

export interface TikvStorageOptions {
  /** The caller's: it outlives the storage. */
  readonly client: TikvClient;
  /** Tells the clusters on one TiKV apart; at most 256 bytes. */
  readonly prefix: string;
  /** What `openRoot` gave for this prefix. */
  readonly root: ClusterRoot;
  readonly local: LocalOptions;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** A segment of the log ends when it has grown to it; 64 MiB. Below what TiKV splits a region at (96 MiB and more). */
  readonly segmentBytes?: number;
  /** The most that one value has; 4 MiB less 4 KiB, which is below the client's `writeBatchBytes`. Larger batches are several. */
  readonly partBytesMax?: number;
  /** Of an append whose batch is one value, before it is uncertain; 5 s. */
  readonly appendTimeoutMs?: number;
  /** Of a seal; 10 s. */
  readonly sealTimeoutMs?: number;
  /** Of each question of a read; 10 s. */
  readonly readTimeoutMs?: number;
}

const never = new AbortController().signal;

const DISK_RECENT_BYTES = 8 << 20;
const MEMORY_RECENT_BYTES = 64 << 20;
const SEGMENT_BYTES = 64 << 20;
const PART_BYTES_MAX = (4 << 20) - 4096;

/**
 * Opens the storage of a node. A copy of the log on its disk is held against the log's chain first; one of another log, or
 * of a log that TiKV no longer has, is thrown away. Rejects with StorageOpenError: `locked` (another process has the
 * directory), `newer-format`, `not-accessible` (TiKV does not answer).
 */
export async function openTikvStorage(options: TikvStorageOptions): Promise<TikvStorage> {
  const { client, prefix, root, clock, random, logger } = options;
  const name = `the log at the prefix ${JSON.stringify(prefix)} of TiKV`;
  const keys = new LogKeys(prefix);
  const empty = emptyChain(root.clusterId);
  const source: LogSource = { client, keys, empty, name, timeoutMs: options.readTimeoutMs ?? 10_000 };
  const index = new LogIndex(source);
  const recent = new RecentBatches(recentBytes(options.local));
  const lookup = new RecordLookup(source, index, recent, clock);
  // Asked before the disk is touched: without TiKV there is nothing to hold a copy against.
  const tail = await reaching(source, () => lookup.tail(never));
  const copy = await openCopy(options, source, lookup);
  const closer = new AbortController();
  const closing = closer.signal;
  const lifetime = new Lifetime(name);
  const bytes = new NodeBytes({ source, index, recent, lookup, copy, clock, logger, closing });
  const regions = new SegmentRegions({ client, keys, logger, closing });
  const writer = new LogWriter({
    source,
    timestamps: new TimestampPool({ client, clock, logger, closing }),
    regions,
    logger,
    opener: openerId(random),
    segmentBytes: options.segmentBytes ?? SEGMENT_BYTES,
    partBytesMax: options.partBytesMax ?? PART_BYTES_MAX,
    appendTimeoutMs: options.appendTimeoutMs ?? 5_000,
    sealTimeoutMs: options.sealTimeoutMs ?? 10_000,
    nowMs: () => clock.nowMs(),
  });
  bytes.saw(tail);
  const log = new TikvLog({ source, index, writer, bytes, lifetime, closing });
  const local =
    copy === undefined ? new MemoryValues(checkpointMemory(options.local), bytes) : new DiskValues(copy, bytes);
  const values = new TikvValues({ bytes, local, name, lifetime, closing });
  return new TikvStorage({ log, values, lifetime, closer, bytes, copy, regions });
}

/** Undefined on a node without a disk. One that does not belong to the log is replaced. */
async function openCopy(
  { local, root, prefix, logger }: TikvStorageOptions,
  source: LogSource,
  lookup: RecordLookup,
): Promise<LocalCopy | undefined> {
  if (local.kind === 'memory') return undefined;
  const { path, openStorage } = local;
  const { clusterId } = root;
  const options: LocalCopyOptions = { path, openStorage, clusterId, prefix, empty: source.empty, logger };
  const copy = await LocalCopy.open(options);
  let ours = false;
  try {
    ours = await reaching(source, () => belongs(copy, lookup));
  } finally {
    if (!ours) await copy.close();
  }
  if (ours) return copy;
  logger.warn({ path, next: copy.next }, 'the copy is not of this log, and is fetched again');
  return await LocalCopy.create(options);
}

/** Whether the log led to the same chain where the copy ends. */
async function belongs(copy: LocalCopy, lookup: RecordLookup): Promise<boolean> {
  if (copy.next === 1) return true;
  const last = await lookup.batchWith(logPosition(copy.next - 1), never);
  return last !== undefined && endOf(last) === copy.next && last.header.chain === copy.chain;
}

/** What TiKV does not answer while a storage is opened. */
async function reaching<Result>(source: LogSource, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NewerFormat) {
      throw new StorageOpenError('newer-format', `${source.name}: ${error.message}`, { cause: error });
    }
    if (!isTikvError(error)) throw error;
    throw new StorageOpenError('not-accessible', `cannot read ${source.name}: ${error.message}`, { cause: error });
  }
}

function recentBytes(local: LocalOptions): number {
  return local.kind === 'disk' ? DISK_RECENT_BYTES : (local.bytesMax ?? MEMORY_RECENT_BYTES);
}

function checkpointMemory(local: LocalOptions): CheckpointMemory {
  return (local.kind === 'memory' ? local.checkpoint : undefined) ?? new CheckpointMemory();
}

function openerId(random: Random): bigint {
  const id = joinU64(random.uint32(), random.uint32());
  return id === 0n ? 1n : id;
}

import { join } from 'node:path';
import { type Clock, joinU64, type Logger, type LogPosition, logPosition, type Random } from '@engram/core';
import { Loop } from '@engram/loop';
import { Lifetime, StorageOpenError, StorageTimestampError, endOf } from '@engram/storage';
import { isTikvError, type TikvClient } from '@engram/tikv-client';
import { NewerFormat, type StoredBatch } from './format/batch-format.ts';
import { type Chain, emptyChain } from './format/chain.ts';
import { checkStart } from './log/check-timestamps.ts';
import type { ClusterRoot } from './cluster-root.ts';
import { ImageCopy, type ImageCopyOptions } from './copy/image-copy.ts';
import type { ImageRoot } from './format/image-root.ts';
import { ImageRootStore, type RootHolder } from './image/image-root-store.ts';
import { type CopyStart, LocalCopy, type LocalCopyOptions, type OpenCopyStorage } from './copy/local-copy.ts';
import { CheckpointMemory, DiskValues, MemoryValues } from './copy/local-values.ts';
import { BatchLocator } from './log/batch-locator.ts';
import { LogKeys } from './format/log-keys.ts';
import type { LogSource } from './log/log-source.ts';
import type { LogTail } from './log/log-tail.ts';
import { LogTrim } from './needs/log-trim.ts';
import { LogWriter } from './log/log-writer.ts';
import { MemberNeeds } from './needs/member-needs.ts';
import { NodeBytes } from './copy/node-bytes.ts';
import { RecentBatches } from './log/recent-batches.ts';
import { RecordLookup } from './log/record-lookup.ts';
import { defaultSafePoint, SafePointKeeper, type SafePointOptions } from './needs/safe-point-keeper.ts';
import { SegmentRegions } from './log/segment-regions.ts';
import { SharedRecords } from './image/shared-records.ts';
import { TikvImage } from './tikv-image.ts';
import { TikvLog } from './tikv-log.ts';
import { TikvStorage } from './tikv-storage.ts';
import { TikvValues } from './tikv-values.ts';
import { TimestampClock, TimestampPool, type TimestampRuns } from '@engram/tso';

/** Where a node keeps bytes of versions besides TiKV. */
export type LocalOptions =
  /** A copy of the log in a directory of its own. If it is lost, it is fetched again. */
  | {
      readonly kind: 'disk';
      readonly path: string;
      readonly openStorage: OpenCopyStorage;
      /** The most bytes of batches that wait to be written to the copy; 64 MiB. */
      readonly queueBytesMax?: number;
      /** The most bytes in memory of what was read from TiKV, and from the copy of the image; 24 MiB. */
      readonly cacheBytesMax?: number;
    }
  /** Only what was used last. All other records are read from TiKV: those of the log by the batch, those of the image by the page. */
  | { readonly kind: 'memory'; readonly bytesMax?: number; readonly checkpoint?: CheckpointMemory };

export interface TikvStorageOptions {
  /** Owned by the caller. It outlives the storage. */
  readonly client: TikvClient;
  /** Tells the clusters on one TiKV apart; at most 256 bytes. */
  readonly prefix: string;
  /** The result of `openRoot` for this prefix. */
  readonly root: ClusterRoot;
  readonly local: LocalOptions;
  /** The member that the storage belongs to. Undefined: no member, so a trim of the log need not wait for this node. */
  readonly member?: bigint;
  readonly clock: Clock;
  /** The owner of the event loop's time. If undefined, the storage has one of its own. */
  readonly loop?: Loop | undefined;
  readonly random: Random;
  readonly logger: Logger;
  /** A segment of the log ends at this size; 64 MiB. Below the size at which TiKV splits a region (96 MiB and more). */
  readonly segmentBytes?: number;
  /** The maximum length of one value; 4 MiB less 4 KiB, below the client's `writeBatchBytes`. Larger batches are split. */
  readonly partBytesMax?: number;
  /** How long an append whose batch is one value may take before it is uncertain; 5 s. */
  readonly appendTimeoutMs?: number;
  /** How long a seal may take; 10 s. */
  readonly sealTimeoutMs?: number;
  /** The timeout of each request of a read; 10 s. */
  readonly readTimeoutMs?: number;
  /** How TiKV's safe point is moved; it stays 1 hour back, and is looked at every 10 minutes. */
  readonly safePoint?: SafePointOptions;
  /** How fast a node with a disk fetches an image's bytes, once it has read its state; 16 MiB. */
  readonly imageBytesPerSecond?: number;
  /** How many fetches of the image's pages run at a time, for all reads together; 8. */
  readonly imageFetchesMax?: number;
  /**
   * How long another member may be silent before it no longer delays a trim of the log; 10 minutes. One that is not silent may
   * hold the log back for three times as long.
   */
  readonly silentMaxMs?: number;
}

const never = new AbortController().signal;

const DISK_CACHE_BYTES = 24 << 20;
const COPY_QUEUE_BYTES = 64 << 20;
const MEMORY_RECENT_BYTES = 64 << 20;
const IMAGE_BYTES_PER_SECOND = 16 << 20;
const SEGMENT_BYTES = 64 << 20;
const SILENT_MAX_MS = 600_000;
/** A member may hold the log back for so many times as long as it may be silent. */
const HOLD_OF_SILENT = 3;
/** How often a start says what it needs of the log. Each time, images and trims of others were faster. */
const SAYS_MAX = 5;
const PART_BYTES_MAX = (4 << 20) - 4096;

/**
 * Opens the storage of a node. First compares a copy of the log on its disk with the log's chain. A copy of another log, or one
 * that ends before the remaining log, is deleted. Rejects with StorageOpenError: `locked` (another process has the directory),
 * `newer-format`, `not-accessible` (TiKV does not answer, or its timestamps went back: then `cause` is StorageTimestampError).
 */
export async function openTikvStorage(options: TikvStorageOptions): Promise<TikvStorage> {
  const { client, prefix, root, clock, loop = new Loop({ clock }), random, logger } = options;
  const name = `the log at the prefix ${JSON.stringify(prefix)} of TiKV`;
  const keys = new LogKeys(prefix);
  const empty = emptyChain(root.clusterId);
  const source: LogSource = { client, keys, empty, name, timeoutMs: options.readTimeoutMs ?? 10_000 };
  let writer: LogWriter | undefined;
  const opener = openerId(random);
  const holder = (): RootHolder | undefined => {
    const held = writer?.held;
    return held && { seal: held.seal, segment: held.segment, opener };
  };
  const roots = new ImageRootStore({ source, holder });
  const index = new BatchLocator(source, () => roots.known.segment);
  const cacheBytesMax = cacheShare(options.local);
  const recent = new RecentBatches(cacheBytesMax);
  const lookup = new RecordLookup(source, index, recent, clock);
  const shared = new SharedRecords({
    source,
    roots,
    lookup,
    bytesMax: cacheBytesMax,
    fetchesMax: options.imageFetchesMax,
  });
  const silentMaxMs = options.silentMaxMs ?? SILENT_MAX_MS;
  const needs = new MemberNeeds({
    source,
    member: options.member,
    process: opener,
    clock,
    silentMaxMs,
    holdMaxMs: HOLD_OF_SILENT * silentMaxMs,
  });
  await reaching(source, () => checkStart(source, never));
  const { copy, tail } = await openCopy(options, { source, roots, lookup, needs });
  const closer = new AbortController();
  const closing = closer.signal;
  const lifetime = new Lifetime(name);
  const imageCopy = copy && (await openImageCopy(options, { source, roots, closing }));
  const bytes = new NodeBytes({ source, index, recent, shared, copy, imageCopy, clock, loop, logger, closing });
  const regions = new SegmentRegions({ client, keys, logger, closing });
  const partBytesMax = options.partBytesMax ?? PART_BYTES_MAX;
  const time = new TimestampClock(clock);
  writer = new LogWriter({
    source,
    index,
    quietMaxMs: silentMaxMs / 2,
    timestamps: new TimestampPool({ client: heardBy(time, client), clock, logger, closing }),
    time,
    regions,
    logger,
    opener,
    segmentBytes: options.segmentBytes ?? SEGMENT_BYTES,
    partBytesMax,
    appendTimeoutMs: options.appendTimeoutMs ?? 5_000,
    sealTimeoutMs: options.sealTimeoutMs ?? 10_000,
    clock,
    loop,
  });
  bytes.saw(tail);
  const log = new TikvLog({ source, index, writer, bytes, shared, lifetime, closing });
  const local =
    copy === undefined
      ? new MemoryValues(checkpointMemory(options.local), bytes, shared)
      : new DiskValues(copy, bytes, shared);
  const values = new TikvValues({ bytes, local, name, lifetime, closing });
  const trim = new LogTrim({ source, index, roots, needs });
  const common = { source, roots, bytes, loop, logger, lifetime, closing };
  const safePoint = new SafePointKeeper(source, prefix, clock, logger, options.safePoint ?? defaultSafePoint);
  const image = new TikvImage({ ...common, trim, needs, safePoint, holder, partBytesMax });
  const cachedBytes = (): number => recent.bytes + shared.cachedBytes + (imageCopy?.cachedBytes ?? 0);
  return new TikvStorage({ log, values, image, lifetime, closer, bytes, copy, imageCopy, regions, cachedBytes });
}

/** A client whose timestamps tell the time. */
function heardBy(time: TimestampClock, client: TikvClient): TimestampRuns {
  return {
    timestampRun: async (count, call) => {
      const first = await client.timestampRun(count, call);
      time.heard(first);
      return first;
    },
  };
}

interface CopyParts {
  readonly source: LogSource;
  readonly roots: ImageRootStore;
  readonly lookup: RecordLookup;
  readonly needs: MemberNeeds;
}

/**
 * Opens the node's copy, or creates one in place of a copy that is of another log, or ends before the remaining log. On a node
 * without a disk there is none. Says what this process needs of the log as soon as that is known. What the last process of this
 * member has said counts until then, and for a while longer.
 */
async function openCopy(
  options: TikvStorageOptions,
  { source, roots, lookup, needs }: CopyParts,
): Promise<{ readonly copy: LocalCopy | undefined; readonly tail: LogTail }> {
  const copyOptions = copyOptionsOf(options, source);
  await reaching(source, () => needs.begin(never));
  const found = copyOptions && (await LocalCopy.open(copyOptions));
  if (found !== undefined) {
    let useless: string | undefined;
    try {
      await reaching(source, () => needs.say(found.next, never));
      const root = await reaching(source, () => roots.read(never));
      useless = await reaching(source, () => whyUseless(found, lookup, root));
      if (useless === undefined) return { copy: found, tail: await reaching(source, () => lookup.tail(never)) };
    } catch (error) {
      await found.close();
      throw error;
    }
    await found.close();
    options.logger.warn({ path: copyOptions?.path, next: found.next }, `the copy ${useless}, and is fetched again`);
  }
  const root = await reaching(source, () => sayImage(roots, needs));
  const tail = await reaching(source, () => lookup.tail(never));
  return { copy: copyOptions && (await LocalCopy.create(copyOptions, startOf(root, tail, source))), tail };
}

/** Says that this member starts from the newest image. Returns the root after that. */
async function sayImage(roots: ImageRootStore, needs: MemberNeeds): Promise<ImageRoot> {
  let root = await roots.read(never);
  for (let says = 0; says < SAYS_MAX; says += 1) {
    const from = root.image?.from ?? logPosition(1);
    await needs.say(from, never);
    root = await roots.read(never);
    if (root.trimmed <= from) break;
  }
  return root;
}

/** Undefined on a node without a disk. */
function copyOptionsOf(
  { local, root, prefix, logger }: TikvStorageOptions,
  { empty }: LogSource,
): LocalCopyOptions | undefined {
  if (local.kind === 'memory') return undefined;
  const { path, openStorage, queueBytesMax = COPY_QUEUE_BYTES } = local;
  return { path, openStorage, queueBytesMax, clusterId: root.clusterId, prefix, empty, logger };
}

/** The copy of the image lies in the directory of the copy of the log, and is deleted with it. */
async function openImageCopy(
  { local, root, prefix, clock, logger, imageBytesPerSecond, imageFetchesMax }: TikvStorageOptions,
  parts: Pick<ImageCopyOptions, 'source' | 'roots' | 'closing'>,
): Promise<ImageCopy | undefined> {
  if (local.kind === 'memory') return undefined;
  return await ImageCopy.open({
    ...parts,
    path: join(local.path, 'image'),
    clusterId: root.clusterId,
    prefix,
    clock,
    logger,
    bytesPerSecond: imageBytesPerSecond ?? IMAGE_BYTES_PER_SECOND,
    bytesMax: cacheShare(local),
    fetchesMax: imageFetchesMax,
  });
}

/** Where a new copy begins. */
function startOf({ image }: ImageRoot, tail: LogTail, { empty }: LogSource): CopyStart {
  if (image === undefined) return { from: logPosition(1), chain: empty };
  return { from: image.from, chain: image.from === tail.next ? tail.chain : undefined };
}

/** Undefined if the log has the same chain at the end of the copy, and the node can start from the copy. */
async function whyUseless(copy: LocalCopy, lookup: RecordLookup, root: ImageRoot): Promise<string | undefined> {
  if (copy.next < root.trimmed) return 'ends before what is left of the log';
  const { image } = root;
  // Without a checkpoint and the whole log, the state comes from the image, and the copy must reach the image's `from`.
  const rootless = copy.begin > 1 && copy.checkpointFrom === undefined;
  if (rootless && (image === undefined || image.from > copy.next)) return 'begins behind what is known';
  if (copy.next === 1) return undefined;
  const last = await lookup.batchWith(logPosition(copy.next - 1), never);
  const chain = last === undefined ? await chainBefore(copy.next, lookup) : chainBehind(last, copy.next);
  return chain !== undefined && chain === copy.chain ? undefined : 'is not of this log';
}

const chainBehind = (last: StoredBatch, next: LogPosition): Chain | undefined =>
  endOf(last) === next ? last.header.chain : undefined;

/** The chain at a position that no batch of the log comes before: the log of a restored store begins behind its image. */
async function chainBefore(next: LogPosition, lookup: RecordLookup): Promise<Chain | undefined> {
  const behind = await lookup.batchWith(next, never);
  if (behind !== undefined) return behind.first === next ? behind.header.previous : undefined;
  const tail = await lookup.tail(never);
  return tail.next === next ? tail.chain : undefined;
}

/** Translates errors of TiKV while a storage is opened. */
async function reaching<Result>(source: LogSource, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NewerFormat) {
      throw new StorageOpenError('newer-format', `${source.name}: ${error.message}`, { cause: error });
    }
    if (error instanceof StorageTimestampError) {
      throw new StorageOpenError('not-accessible', error.message, { cause: error });
    }
    if (!isTikvError(error)) throw error;
    throw new StorageOpenError('not-accessible', `cannot read ${source.name}: ${error.message}`, { cause: error });
  }
}

/** The bound of each cache: of batches of the log, of pieces of the image, and of pieces of the image's copy. */
function cacheShare(local: LocalOptions): number {
  return local.kind === 'disk'
    ? Math.floor((local.cacheBytesMax ?? DISK_CACHE_BYTES) / 3)
    : Math.floor((local.bytesMax ?? MEMORY_RECENT_BYTES) / 2);
}

function checkpointMemory(local: LocalOptions): CheckpointMemory {
  return (local.kind === 'memory' ? local.checkpoint : undefined) ?? new CheckpointMemory();
}

function openerId(random: Random): bigint {
  const id = joinU64(random.uint32(), random.uint32());
  return id === 0n ? 1n : id;
}

import { drawId, type Logger, type LogPosition, NEW_LOG_SEAL, type Random } from '@engram/core';
import type { Loop } from '@engram/loop';
import { type ImageBase, type ImagePart, StorageOpenError, StorageUnavailableError } from '@engram/storage';
import { type CallOptions, isTikvError, type TikvClient, type Transaction } from '@engram/tikv-client';
import { SEQUENCE_ORIGIN } from '@engram/tso';
import { type ClusterFounding, encodeRoot, unfinished, where } from './cluster-root.ts';
import { emptyChain, foundedChain } from './format/chain.ts';
import { EMPTY_IMAGE_ROOT, encodeImageRoot, type RoundClaim } from './format/image-root.ts';
import type { LogKeys } from './format/log-keys.ts';
import { decodeRestoreMark, encodeRestoreMark } from './format/restore-mark.ts';
import { encodeSeal, type LogMark } from './format/seal-record.ts';
import { PublishedPages } from './image/image-directory.ts';
import { collectImageGarbage } from './image/image-garbage.ts';
import { ImageRootStore } from './image/image-root-store.ts';
import { ImageWriter } from './image/image-writer.ts';
import { imageRootOf, type LogSource } from './log/log-source.ts';

export interface RestorePlace {
  readonly client: TikvClient;
  readonly keys: LogKeys;
  /**
   * Takes the prefix also where another restore has begun, which must not run any more. If it does run, it fails, and what it has
   * written is not used.
   */
  readonly discardUnfinished: boolean;
  /**
   * The number of this restore, random and not 0, if an attempt of it has begun before: what that has left is replaced also without
   * `discardUnfinished`. Undefined: one is drawn.
   */
  readonly restore?: bigint | undefined;
  readonly signal: AbortSignal;
  /** The timeout of each request. */
  readonly timeoutMs: number;
}

export interface PrefixRestoreOptions extends RestorePlace {
  /** The cluster whose members find the store. Its revisions are those of the image. */
  readonly cluster: Omit<ClusterFounding, 'revisionOrigin'> & { readonly foundingId: bigint };
  readonly random: Random;
  readonly loop: Loop;
  readonly logger: Logger;
  /** The maximum length of one value; 4 MiB less 4 KiB. */
  readonly partBytesMax?: number;
}

/** A whole store, as `SharedImage.save` takes it. */
export interface RestoredImage {
  /** The position behind the last record of the image: the log begins there. */
  readonly from: LogPosition;
  readonly parts: (base: ImageBase) => AsyncIterable<ImagePart>;
}

/** The attempts of a transaction. They all fail if another restore is always faster, or answers are always lost. */
const ATTEMPTS_MAX = 10;
const FIRST_SEGMENT = 1;
const PART_BYTES_MAX = (4 << 20) - 4096;

/**
 * Rejects with StorageOpenError if a store cannot be restored into the prefix: `not-ours` (it holds something), `unfinished` (another
 * restore has begun there), `not-accessible` (PD or TiKV does not answer, or PD's timestamps went back). Changes nothing.
 */
export async function checkPrefixIsFree(place: RestorePlace): Promise<void> {
  await reaching(place, async () => {
    await lookAtRoot(place, await place.client.begin(callOf(place)), place.restore);
  });
}

/**
 * Makes a prefix the store of a cluster: an image, and behind it a log without a record. Members that start on the prefix serve it.
 *
 * First a mark takes the place of the cluster's root. Then the image is written, and read back, in a round of its own, as every image.
 * At last one transaction replaces the mark by the root, and writes the begin of the log: before it no member starts. What an ended
 * restore has left, is never used: the next one has another round. Rejects as `checkPrefixIsFree` does, with the error of `parts`,
 * the signal's reason, StorageCorruptError if what is read back differs, and StorageUnavailableError. Where the answer to the last
 * transaction is lost for good, the message says that the store may be there.
 */
export async function restoreIntoPrefix(options: PrefixRestoreOptions, { from, parts }: RestoredImage): Promise<void> {
  const { client, keys, cluster, random, loop, logger, signal, timeoutMs } = options;
  const restore = options.restore ?? drawId(random);
  const source: LogSource = { client, keys, empty: emptyChain(cluster.clusterId), name: where(options), timeoutMs };
  const holder = { seal: NEW_LOG_SEAL, opener: restore, segment: FIRST_SEGMENT };
  const roots = new ImageRootStore({ source, holder: () => holder });
  await reaching(options, async () => {
    await takePrefix(options, restore);
    const claim = await claimRound(roots, restore, options);
    await collectImageGarbage({ source, loop, round: claim.round, published: undefined, pages: undefined }, signal);
    const base = new PublishedPages([]);
    const partBytesMax = options.partBytesMax ?? PART_BYTES_MAX;
    const writer = new ImageWriter(
      { source, roots, loop, logger, partBytesMax, base, pace: async () => {} },
      claim,
      signal,
    );
    const counted = new CountedParts(parts(base));
    try {
      await writer.write(counted.parts());
      await writer.verify();
    } catch (error) {
      // Another restore deletes what this one has written.
      if (!signal.aborted && (await markOf(options)) !== restore) throw taken(options);
      throw error;
    }
    if ((await writer.publish(from, counted.recordBytes)) === undefined) throw taken(options);
    const next = { next: from, logBytes: counted.recordBytes, chain: foundedChain(source.empty, restore, from) };
    await found(options, source, restore, claim, next);
  });
}

/** The parts of an image, with the bytes of their records. */
class CountedParts {
  readonly #parts: AsyncIterable<ImagePart>;
  recordBytes = 0;

  constructor(parts: AsyncIterable<ImagePart>) {
    this.#parts = parts;
  }

  async *parts(): AsyncGenerator<ImagePart> {
    for await (const part of this.#parts) {
      if (part.kind === 'page') for (const { length } of part.records) this.recordBytes += length;
      yield part;
    }
  }
}

/** Puts the mark of this restore in the place of the root. */
async function takePrefix(options: PrefixRestoreOptions, restore: bigint): Promise<void> {
  const { client, keys } = options;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const txn = await client.begin(callOf(options));
    const left = await lookAtRoot(options, txn, restore);
    if (left === restore) return;
    if (left === undefined) txn.insert(keys.root, encodeRestoreMark(restore));
    else txn.put(keys.root, encodeRestoreMark(restore));
    if ((await commit(txn, options)) === 'committed') return;
  }
  throw neverThrough(options);
}

/** The number of the restore that has begun at the prefix; undefined if nothing is there. `own`: the number of this restore. */
async function lookAtRoot(place: RestorePlace, { snapshot }: Transaction, own?: bigint): Promise<bigint | undefined> {
  const { client, keys, discardUnfinished } = place;
  const call = callOf(place);
  const value = await snapshot.get(keys.root, call);
  if (value !== undefined) {
    const left = decodeRestoreMark(value);
    if (left === undefined)
      throw new StorageOpenError('not-ours', `${where(place)} is not empty: a cluster, or something else, has it`);
    if (left !== own && !discardUnfinished) throw unfinished(place);
    return left;
  }
  // A read at the newest version: if PD went back, its timestamps do not show all that is there.
  if ((await client.get(keys.root, call)) !== undefined) {
    const text = `${where(place)} was taken just now, or the timestamps of PD went back and do not show what it holds`;
    throw new StorageOpenError('not-accessible', text);
  }
  const { start, end } = keys.range;
  for await (const { key } of snapshot.scan(start, end, { ...call, limit: 1, keysOnly: true })) {
    const hex = Buffer.from(key).toString('hex');
    throw new StorageOpenError('not-ours', `${where(place)} is not empty: it holds the key ${hex}`);
  }
  return undefined;
}

/** Claims a round that no restore before has claimed. An image that one of them has published counts no more. */
async function claimRound(roots: ImageRootStore, restore: bigint, options: PrefixRestoreOptions): Promise<RoundClaim> {
  const claimed = await roots.update(({ claim }) => {
    const round = (claim?.round ?? 0) + 1;
    return { ...EMPTY_IMAGE_ROOT, claim: { round, epoch: NEW_LOG_SEAL.epoch, opener: restore } };
  }, options.signal);
  // Without a seal of the first segment the log is held by nobody else.
  if (claimed?.claim === undefined) throw taken(options);
  return claimed.claim;
}

/** Replaces the mark by the cluster's root, and lets the log begin behind the image. */
async function found(
  options: PrefixRestoreOptions,
  source: LogSource,
  restore: bigint,
  claim: RoundClaim,
  begin: LogMark,
): Promise<void> {
  const { client, keys, cluster, signal } = options;
  const founded = encodeRoot({ ...cluster, firstRevision: SEQUENCE_ORIGIN });
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    signal.throwIfAborted();
    const call = callOf(options);
    const txn = await client.begin(call);
    const [mark, image] = await Promise.all([txn.get(keys.root, call), txn.get(keys.image, call)]);
    if (attempt > 0 && mark !== undefined && Buffer.compare(mark, founded) === 0) return;
    const root = imageRootOf(source, image);
    const isOwn = mark !== undefined && decodeRestoreMark(mark) === restore;
    if (!isOwn || root.image?.round !== claim.round || root.claim?.opener !== restore) throw taken(options);
    txn.put(keys.root, founded);
    // The first segment begins with the log's first position; no batch of it is there, and none comes.
    txn.put(keys.image, encodeImageRoot({ ...root, trimmed: begin.next }));
    const owner = { seal: NEW_LOG_SEAL, opener: restore, begin, birth: txn.startTs };
    txn.insert(keys.seal(FIRST_SEGMENT), encodeSeal(owner));
    if ((await commit(txn, options, (error) => mayBeFounded(options, error))) === 'committed') return;
  }
  throw neverThrough(options);
}

/** `unsettled`: the error to end with where it stays unknown whether the transaction is committed. */
async function commit(
  txn: Transaction,
  options: RestorePlace,
  unsettled = (error: unknown): unknown => error,
): Promise<string> {
  const call = callOf(options);
  const outcome = await txn.commit(call);
  if (outcome.kind !== 'undetermined') return outcome.kind;
  try {
    return (await outcome.settle(call)).kind;
  } catch (error) {
    throw unsettled(error);
  }
}

function mayBeFounded(place: RestorePlace, error: unknown): unknown {
  if (place.signal.aborted || !isTikvError(error)) return error;
  const text = `it is unknown whether ${where(place)} has the restored store, because TiKV did not answer at the end`;
  const then = 'if members start there, it has; otherwise begin again, with --discard-unfinished';
  return new StorageOpenError('not-accessible', `${text} (${error.message}): ${then}`, { cause: error });
}

async function markOf(options: PrefixRestoreOptions): Promise<bigint | undefined> {
  const { client, keys } = options;
  const value = await client.get(keys.root, callOf(options));
  return value && decodeRestoreMark(value);
}

const callOf = ({ signal, timeoutMs }: RestorePlace): CallOptions => ({ signal, timeoutMs });

const taken = (place: RestorePlace): StorageOpenError =>
  new StorageOpenError('unfinished', `another restore has taken ${where(place)}: this one ends`);

const neverThrough = (place: RestorePlace): StorageUnavailableError =>
  new StorageUnavailableError(`${where(place)} cannot be changed: other writers are always faster`);

async function reaching(place: RestorePlace, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (place.signal.aborted) throw place.signal.reason;
    if (!isTikvError(error)) throw error;
    throw new StorageOpenError('not-accessible', `cannot reach TiKV at ${where(place)}: ${error.message}`, {
      cause: error,
    });
  }
}

import { compareBytes } from '@engram/core';
import type { RegionInfo, Snapshot, TikvClient } from '@engram/tikv-client';
import { emptyChain } from './format/chain.ts';
import { type ClusterRoot, openRoot } from './cluster-root.ts';
import { PieceMissing, TikvPieces } from './image/image-pieces.ts';
import type { Image, ImageRoot } from './format/image-root.ts';
import { type LogKey, LogKeys } from './format/log-keys.ts';
import { imageRootOf, type LogSource, ownerOf, scanLog } from './log/log-source.ts';
import { lookAtTail } from './log/log-tail.ts';
import { MemberNeeds } from './needs/member-needs.ts';

/** A segment of the log that is not deleted. */
export interface SegmentReport {
  readonly segment: number;
  /** The epoch and the holder of the seal that the segment belongs to. */
  readonly epoch: number;
  readonly holder: string;
  /** The position of its first record; undefined if it has none. */
  readonly first: number | undefined;
  /** The number of its values. A value is a batch or a part of one. */
  readonly values: number;
  readonly sealed: boolean;
}

export interface RoundReport {
  readonly round: number;
  /** `kept`: the published image has pages of it. `left`: it was abandoned or replaced; the next round deletes it. */
  readonly state: 'published' | 'claimed' | 'kept' | 'left';
  readonly pieces: number;
  /** How many pages of the published image this round wrote. */
  readonly pages: number;
}

/** How many values of a cluster are in one region. */
export interface RegionReport {
  readonly region: number;
  readonly leaderStore: number | undefined;
  readonly logValues: number;
  readonly imagePieces: number;
}

/** What a cluster has in TiKV, as one snapshot shows it. Ids are in hex. */
export interface StorageReport {
  readonly prefix: string;
  readonly clusterId: string;
  readonly log: {
    /** The log before this position may be deleted already. */
    readonly begin: number;
    readonly next: number;
    /** The bytes of all records that the log ever had. */
    readonly recordBytes: number;
    /** The wall-clock mark of its last batch, in milliseconds since 1970, and as a date; undefined if it has none. */
    readonly wallMs: number | undefined;
    readonly time: string | undefined;
    readonly segments: readonly SegmentReport[];
  };
  readonly image: Image | undefined;
  readonly claim: { readonly round: number; readonly epoch: number; readonly opener: string } | undefined;
  readonly rounds: readonly RoundReport[];
  /** The position from which each member needs the log, as its processes last reported. */
  readonly needs: readonly { readonly member: string; readonly from: number }[];
  /** What keeps the log from being trimmed up to its end. */
  readonly trimWaitsFor: string;
  readonly regions: readonly RegionReport[];
}

export interface InspectOptions {
  readonly client: TikvClient;
  readonly prefix: string;
  readonly signal: AbortSignal;
  /** The timeout of each request. */
  readonly timeoutMs: number;
}

/**
 * Reports what a cluster has in TiKV, and changes nothing. It scans keys without values, so that it costs a working cluster
 * little. Rejects as `openRoot` does, with StorageCorruptError for damage, and with the client's errors.
 */
export async function inspectStorage({ client, prefix, signal, timeoutMs }: InspectOptions): Promise<StorageReport> {
  const keys = new LogKeys(prefix);
  const root: ClusterRoot = await openRoot({ client, keys, signal, timeoutMs });
  const name = `the log at the prefix ${JSON.stringify(prefix)} of TiKV`;
  const source: LogSource = { client, keys, empty: emptyChain(root.clusterId), name, timeoutMs };
  const { snapshot, tail } = await lookAtTail(source, signal, { notFillCache: true });
  const value = await snapshot.get(keys.image, { signal, timeoutMs });
  const imageRoot = imageRootOf(source, value);
  const { image, claim, trimmed } = imageRoot;
  const regions = new RegionCounts(await client.admin.regions(keys.range.start, keys.range.end, { signal, timeoutMs }));
  const segments = await segmentsOf(
    source,
    snapshot,
    regions,
    { begin: imageRoot.segment, last: tail.segment },
    signal,
  );
  const rounds = await roundsOf(source, snapshot, regions, imageRoot, signal);
  const needs = new Map<bigint, number>();
  for (const { member, from } of await MemberNeeds.all(source, snapshot, signal)) {
    needs.set(member, Math.min(from, needs.get(member) ?? from));
  }
  return {
    prefix,
    clusterId: root.clusterId.toString(16),
    log: { begin: trimmed, next: tail.next, recordBytes: tail.logBytes, ...timeOf(tail.last?.wallMs ?? 0), segments },
    image,
    claim: claim && { round: claim.round, epoch: claim.epoch, opener: claim.opener.toString(16) },
    rounds,
    needs: [...needs].map(([member, from]) => ({ member: member.toString(16), from })),
    trimWaitsFor: waitsFor(imageRoot, needs),
    regions: regions.reports,
  };
}

function timeOf(wallMs: number): Pick<StorageReport['log'], 'wallMs' | 'time'> {
  if (wallMs === 0) return { wallMs: undefined, time: undefined };
  const date = new Date(wallMs);
  return { wallMs, time: Number.isNaN(date.getTime()) ? undefined : date.toISOString() };
}

async function segmentsOf(
  source: LogSource,
  snapshot: Snapshot,
  regions: RegionCounts,
  { begin, last }: { readonly begin: number; readonly last: number },
  signal: AbortSignal,
): Promise<SegmentReport[]> {
  const { keys } = source;
  const found = new Map<number, { first: number | undefined; values: number; sealed: boolean }>();
  // Of earlier segments only the seals are left, and batches that the next trim deletes.
  const range = { start: keys.segmentStart(begin), end: keys.logEnd };
  for await (const { key } of scanLog(source, snapshot, range, { keysOnly: true, signal })) {
    const seen = found.get(key.segment) ?? { first: undefined, values: 0, sealed: false };
    found.set(key.segment, seen);
    regions.count(keyOf(keys, key), 'logValues');
    if (key.kind === 'seal') {
      seen.sealed = true;
      continue;
    }
    seen.first ??= key.first;
    seen.values += 1;
  }
  if (!found.has(last)) found.set(last, { first: undefined, values: 0, sealed: false });
  const reports: SegmentReport[] = [];
  for (const [segment, { first, values, sealed }] of found) {
    const { seal } = await ownerOf(source, snapshot, segment, signal);
    reports.push({ segment, epoch: seal.epoch, holder: seal.holder.toString(16), first, values, sealed });
  }
  return reports;
}

async function roundsOf(
  source: LogSource,
  snapshot: Snapshot,
  regions: RegionCounts,
  { image, claim }: ImageRoot,
  signal: AbortSignal,
): Promise<RoundReport[]> {
  const { keys, timeoutMs } = source;
  const pieces = new Map<number, number>();
  const pages = await pagesByRound(source, image, signal);
  const range = { start: keys.roundStart(0), end: keys.roundStart(Number.MAX_SAFE_INTEGER) };
  for await (const { key } of snapshot.scan(range.start, range.end, { keysOnly: true, signal, timeoutMs })) {
    const round = keys.parsePiece(key)?.round;
    if (round === undefined) continue;
    pieces.set(round, (pieces.get(round) ?? 0) + 1);
    regions.count(key, 'imagePieces');
  }
  return [...pieces].map(([round, count]) => {
    const named = pages.get(round) ?? 0;
    const others = claim?.round === round ? 'claimed' : named > 0 ? 'kept' : 'left';
    return { round, state: image?.round === round ? 'published' : others, pieces: count, pages: named };
  });
}

/** How many pages of the image each round wrote. Empty if the image is replaced meanwhile. */
async function pagesByRound(
  source: LogSource,
  image: Image | undefined,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, number>> {
  const pages = new Map<number, number>();
  if (image === undefined) return pages;
  try {
    const directory = await new TikvPieces(source, image).directory(signal);
    if (directory === undefined) return pages.set(image.round, image.totals.page.count);
    for (const { round } of directory) pages.set(round, (pages.get(round) ?? 0) + 1);
  } catch (error) {
    if (!(error instanceof PieceMissing)) throw error;
  }
  return pages;
}

function waitsFor({ image }: ImageRoot, needs: ReadonlyMap<bigint, number>): string {
  if (image === undefined) return 'the first image';
  const behind = [...needs].filter(([, from]) => from < image.from);
  if (behind.length === 0) return 'the next image, or the end of a segment';
  return behind.map(([member, from]) => `member ${member.toString(16)}, which needs the log from ${from}`).join('; ');
}

function keyOf(keys: LogKeys, key: LogKey): Uint8Array {
  return key.kind === 'seal' ? keys.seal(key.segment) : keys.slot(key.segment, key.first, key.part);
}

/** Counts the values and pieces in each region. */
class RegionCounts {
  readonly #regions: readonly RegionInfo[];
  readonly #counts: { logValues: number; imagePieces: number }[];

  constructor(regions: readonly RegionInfo[]) {
    this.#regions = regions;
    this.#counts = regions.map(() => ({ logValues: 0, imagePieces: 0 }));
  }

  count(key: Uint8Array, what: 'logValues' | 'imagePieces'): void {
    let [low, high] = [0, this.#regions.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (compareBytes(this.#regions[middle]!.start, key) <= 0) low = middle;
      else high = middle - 1;
    }
    const counts = this.#counts[low];
    if (counts !== undefined) counts[what] += 1;
  }

  get reports(): RegionReport[] {
    return this.#regions.map(({ id, leaderStoreId }, at) => ({
      region: id,
      leaderStore: leaderStoreId,
      ...this.#counts[at]!,
    }));
  }
}

import { keySuccessor } from '@engram/core';
import { StorageCorruptError } from '@engram/storage';
import type { Entry, ScanOptions, Snapshot, TikvClient } from '@engram/tikv-client';
import { type BatchPart, decodePart } from '../format/batch-format.ts';
import type { Chain } from '../format/chain.ts';
import { decodeImageRoot, EMPTY_IMAGE_ROOT, type ImageRoot } from '../format/image-root.ts';
import type { LogKey, LogKeys } from '../format/log-keys.ts';
import { decodeSeal, FIRST_OWNER, type SegmentOwner } from '../format/seal-record.ts';
import { timestampRefusal } from './timestamp-refusal.ts';

/** The most keys of one request of a search. */
const SEARCH_KEYS_MAX = 1024;

/** What every reader of the log needs. */
export interface LogSource {
  readonly client: TikvClient;
  readonly keys: LogKeys;
  /** The chain of the log when it was empty. */
  readonly empty: Chain;
  /** Names the log in errors. */
  readonly name: string;
  /** The timeout of one call, or of one page of a scan. */
  readonly timeoutMs: number;
}

export interface LogRow {
  readonly key: LogKey;
  /** Empty if the scan reads only keys. */
  readonly value: Uint8Array;
}

/** Yields the rows of the log between two keys, page by page. A key that is not a log's is damage. */
export async function* scanLog(
  source: LogSource,
  snapshot: Snapshot,
  range: { readonly start: Uint8Array; readonly end: Uint8Array },
  options: ScanOptions,
): AsyncGenerator<LogRow> {
  const call = { timeoutMs: source.timeoutMs, ...options };
  for await (const page of snapshot.pages(range.start, range.end, call)) {
    for (const row of page) yield rowOf(source, row);
  }
}

/**
 * As `scanLog`, for a caller that needs one of the first rows. It requests `limit` rows at a time, and reads no region before
 * it has the rows of the region before. Without values it requests more rows each time, up to SEARCH_KEYS_MAX.
 */
export async function* searchLog(
  source: LogSource,
  snapshot: Snapshot,
  range: { readonly start: Uint8Array; readonly end: Uint8Array },
  options: ScanOptions & { readonly limit: number },
): AsyncGenerator<LogRow> {
  let { start, end } = range;
  for (let { limit } = options; ; ) {
    let rows = 0;
    for await (const row of scanLog(source, snapshot, { start, end }, { ...options, limit })) {
      rows += 1;
      const key = keyOf(source, row.key);
      if (options.reverse) end = key;
      else start = keySuccessor(key);
      yield row;
    }
    if (rows < limit) return;
    if (options.keysOnly) limit = Math.min(SEARCH_KEYS_MAX, 4 * limit);
  }
}

/** The image's root as it is now, which no snapshot delays. */
export async function readImageRoot(source: LogSource, signal: AbortSignal): Promise<ImageRoot> {
  return imageRootOf(source, await source.client.get(source.keys.image, { signal, timeoutMs: source.timeoutMs }));
}

/** Decodes the value of the image's root; undefined where it was never written. */
export function imageRootOf(source: LogSource, value: Uint8Array | undefined): ImageRoot {
  const root = value === undefined ? EMPTY_IMAGE_ROOT : decodeImageRoot(value);
  if (root === undefined) throw corrupt(source, "the value of the image's root is damaged");
  return root;
}

export function corrupt(source: LogSource, what: string): StorageCorruptError {
  return new StorageCorruptError(what, source.name);
}

/** Decodes a part, and checks that its header agrees with its key. Any other value is damage. */
export function partOf(source: LogSource, { key, value }: LogRow): BatchPart {
  const part = key.kind === 'slot' ? decodePart(value) : undefined;
  if (key.kind !== 'slot' || part === undefined) throw corrupt(source, `the value of ${keyText(key)} is damaged`);
  const { segment, first, part: number, parts, count } = part.header;
  const placed = segment === key.segment && first === key.first && number === key.part;
  if (!placed || number >= parts || count === 0) {
    throw corrupt(source, `the value of ${keyText(key)} is one of record ${first} in segment ${segment}`);
  }
  return part;
}

/**
 * Returns the owner of a segment, which the seal of the previous segment names. A snapshot may show the segment's batches but
 * not that seal: they are in different regions, and commit timestamps do not follow the order of commits. The seal was
 * acknowledged before the first of the batches was sent, so a later snapshot shows it, unless timestamps went back: then it throws
 * StorageTimestampError.
 */
export async function ownerOf(
  source: LogSource,
  snapshot: Snapshot,
  segment: number,
  signal: AbortSignal,
): Promise<SegmentOwner> {
  if (segment === 1) return FIRST_OWNER;
  const key = source.keys.seal(segment - 1);
  const call = { signal, timeoutMs: source.timeoutMs };
  const value = await snapshot.get(key, call);
  if (value !== undefined) return sealOf(source, segment - 1, value);
  const later = await source.client.snapshot(call);
  const shown = await later.get(key, call);
  if (shown !== undefined) return sealOf(source, segment - 1, shown);
  const newest = await source.client.get(key, call);
  if (newest === undefined) throw corrupt(source, `segment ${segment} has batches, and the one before has no seal`);
  const owner = sealOf(source, segment - 1, newest);
  throw timestampRefusal(source.name, later.timestamp, owner, `does not show the seal of segment ${segment - 1}`);
}

/** Decodes the seal of a segment, which names the owner of the next one. */
export function sealOf(source: LogSource, segment: number, value: Uint8Array): SegmentOwner {
  const owner = decodeSeal(value);
  if (owner === undefined) throw corrupt(source, `the seal of segment ${segment} is damaged`);
  return owner;
}

function rowOf(source: LogSource, { key, value }: Entry): LogRow {
  const parsed = source.keys.parse(key);
  if (parsed === undefined) throw corrupt(source, `${Buffer.from(key).toString('hex')} is no key of a log`);
  return { key: parsed, value };
}

function keyOf({ keys }: LogSource, key: LogKey): Uint8Array {
  return key.kind === 'seal' ? keys.seal(key.segment) : keys.slot(key.segment, key.first, key.part);
}

function keyText(key: LogKey): string {
  if (key.kind === 'seal') return `the seal of segment ${key.segment}`;
  return `record ${key.first}, part ${key.part}, in segment ${key.segment}`;
}

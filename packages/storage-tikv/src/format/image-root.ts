import { createHash } from 'node:crypto';
import { type Epoch, epoch, type LogPosition, logPosition } from '@engram/core';
import { NewerFormat } from './batch-format.ts';
import { type ImageKind, imageKindNames } from './log-keys.ts';

/** All pieces of one kind. */
export interface PieceTotals {
  readonly count: number;
  /** The length of their payloads. */
  readonly bytes: number;
  /** The `PieceHash` of their payloads in order. For pages: only of the pages that the image's own round wrote. */
  readonly hash: string;
}

/**
 * A published image. All its pieces exist and were read back. The directory names its pages, some of which earlier rounds may
 * have written. In an image without a directory (of the first format), all pages are of its own round.
 */
export interface Image {
  readonly round: number;
  /** Replay of the log continues here. */
  readonly from: LogPosition;
  /** About how many bytes all records of the log before `from` have. */
  readonly logBytes: number;
  /** The number of records in its pages. */
  readonly records: number;
  readonly totals: Readonly<Record<ImageKind, PieceTotals>>;
}

/** The writer of the image of a round. No other writer publishes this image. */
export interface RoundClaim {
  readonly round: number;
  readonly epoch: Epoch;
  /** Identifies the opened storage that claimed the round. */
  readonly opener: bigint;
}

/** The state that is stored beside the log, as one value. It is changed only by compare-and-set. */
export interface ImageRoot {
  readonly image: Image | undefined;
  /** The newest claim. Each number of a round is claimed once. */
  readonly claim: RoundClaim | undefined;
  /** The log before this position may be deleted already. */
  readonly trimmed: LogPosition;
  /** The segment that begins at `trimmed`. The batches of earlier segments may be deleted already. */
  readonly segment: number;
  /** The batches of the segments before this one are certainly deleted. Not above `segment`. */
  readonly deleted: number;
}

export const EMPTY_IMAGE_ROOT: ImageRoot = {
  image: undefined,
  claim: undefined,
  trimmed: logPosition(1),
  segment: 1,
  deleted: 1,
};

export const imageBytes = ({ totals }: Image): number =>
  imageKindNames.reduce((sum, kind) => sum + totals[kind].bytes, 0);

export const NO_PIECES: PieceTotals = { count: 0, bytes: 0, hash: '' };

const MAGIC = 'engram image';
/** In format 1, all pages of an image are of its own round. */
const FORMAT = 2;
const HASH_HEX = 32;

/** A hash over pieces, one after the other. */
export class PieceHash {
  #hash = '';
  count = 0;
  bytes = 0;

  add(payload: Uint8Array): void {
    this.#hash = createHash('sha256').update(this.#hash).update(payload).digest('hex').slice(0, HASH_HEX);
    this.count += 1;
    this.bytes += payload.length;
  }

  get totals(): PieceTotals {
    return { count: this.count, bytes: this.bytes, hash: this.#hash };
  }
}

export const sameTotals = (left: PieceTotals, right: PieceTotals): boolean =>
  left.count === right.count && left.bytes === right.bytes && left.hash === right.hash;

/** Encodes the root as a line of JSON and a line with its hash. */
export function encodeImageRoot({ image, claim, trimmed, segment, deleted }: ImageRoot): Uint8Array {
  const named = claim && { ...claim, opener: claim.opener.toString(16) };
  const text = JSON.stringify({ magic: MAGIC, format: FORMAT, image, claim: named, trimmed, segment, deleted });
  return Buffer.from(`${text}\n${hashOf(text)}\n`);
}

/** Undefined if the value is damaged. Throws NewerFormat. */
export function decodeImageRoot(value: Uint8Array): ImageRoot | undefined {
  const [text, hash] = Buffer.from(value).toString().split('\n');
  if (text === undefined || hash !== hashOf(text)) return undefined;
  const root: unknown = JSON.parse(text);
  if (!isObject(root) || root['magic'] !== MAGIC || typeof root['format'] !== 'number') return undefined;
  if (root['format'] > FORMAT) {
    throw new NewerFormat(`an image has format ${root['format']}, and ${FORMAT} is the newest known`);
  }
  const image = root['image'] === undefined ? undefined : parseImage(root['image']);
  const claim = root['claim'] === undefined ? undefined : parseClaim(root['claim']);
  // A root without `deleted` is of a version that did not note it.
  const { trimmed, segment, deleted = EMPTY_IMAGE_ROOT.deleted } = root;
  if (image === undefined && root['image'] !== undefined) return undefined;
  if (claim === undefined && root['claim'] !== undefined) return undefined;
  if (!isCount(trimmed) || !isCount(segment) || !isCount(deleted) || deleted > segment) return undefined;
  return { image, claim, trimmed: logPosition(trimmed), segment, deleted };
}

/** Checks a parsed JSON value; undefined if it is not an image. */
export function parseImage(value: unknown): Image | undefined {
  if (!isObject(value) || !isObject(value['totals'])) return undefined;
  const { round, from, logBytes, records } = value;
  const chunk = parseTotals(value['totals']['chunk']);
  const page = parseTotals(value['totals']['page']);
  const places = parseTotals(value['totals']['places']);
  const named = value['totals']['directory'];
  const directory = named === undefined ? NO_PIECES : parseTotals(named);
  if (chunk === undefined || page === undefined || places === undefined || directory === undefined) return undefined;
  if (!isCount(round) || !isCount(from) || !isCount(logBytes) || !isCount(records)) return undefined;
  return { round, from: logPosition(from), logBytes, records, totals: { chunk, page, places, directory } };
}

function parseTotals(value: unknown): PieceTotals | undefined {
  if (!isObject(value)) return undefined;
  const { count, bytes, hash } = value;
  return isCount(count) && isCount(bytes) && typeof hash === 'string' ? { count, bytes, hash } : undefined;
}

function parseClaim(value: unknown): RoundClaim | undefined {
  if (!isObject(value)) return undefined;
  const { round, epoch: claimed, opener } = value;
  if (!isCount(round) || !isCount(claimed)) return undefined;
  if (typeof opener !== 'string' || !/^[\da-f]{1,16}$/.test(opener)) return undefined;
  return { round, epoch: epoch(claimed), opener: BigInt(`0x${opener}`) };
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, HASH_HEX);

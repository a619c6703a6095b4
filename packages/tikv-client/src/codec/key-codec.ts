import { EMPTY_BYTES } from '@engram/core';
import { decodeMemcomparable, encodeMemcomparable } from './memcomparable.ts';

/**
 * How a user's keys look to TiKV and to PD. API v1 sends keys as they are and encodes bounds; a codec for API v2 would
 * put its mode byte and keyspace id in front, cut regions to the keyspace, and set `apiVersion` and `keyspaceId`.
 * A bound of zero length is infinity on both sides and is never encoded.
 */
export interface KeyCodec {
  /** kvrpcpb.APIVersion. */
  readonly apiVersion: number;
  readonly keyspaceId: number | undefined;
  /** What KV requests carry. */
  toStore(key: Uint8Array): Uint8Array;
  /** The key out of an answer. */
  fromStore(key: Uint8Array): Uint8Array;
  /** A range as KV requests carry it: `end` of zero length is the end of what this codec may see. */
  rangeToStore(start: Uint8Array, end: Uint8Array): readonly [start: Uint8Array, end: Uint8Array];
  /** A key to look up in PD; the empty key is a key here. */
  toPd(key: Uint8Array): Uint8Array;
  /** A bound of a range in PD. */
  boundToPd(bound: Uint8Array): Uint8Array;
  /** A bound of a region. Throws TikvError `corrupt-key`. */
  boundFromPd(bound: Uint8Array): Uint8Array;
}

/** Of codecs that leave keys as they are: whoever sees it may leave whole pages as they are. */
export const sameKey = (key: Uint8Array): Uint8Array => key;

/** Transactions without keyspaces. */
export const apiV1: KeyCodec = {
  apiVersion: 0,
  keyspaceId: undefined,
  toStore: sameKey,
  fromStore: (key) => key,
  rangeToStore: (start, end) => [start, end],
  toPd: encodeMemcomparable,
  boundToPd: (bound) => (bound.length === 0 ? EMPTY_BYTES : encodeMemcomparable(bound)),
  boundFromPd: (bound) => (bound.length === 0 ? EMPTY_BYTES : decodeMemcomparable(bound)),
};

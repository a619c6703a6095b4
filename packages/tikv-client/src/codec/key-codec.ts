import { EMPTY_BYTES } from '@engram/core';
import { decodeMemcomparable, encodeMemcomparable } from './memcomparable.ts';

/**
 * Translates a user's keys to the form of TiKV and of PD. API v1 sends keys unchanged and encodes bounds. A codec for API v2
 * would put its mode byte and keyspace id in front, cut regions to the keyspace, and set `apiVersion` and `keyspaceId`.
 * A bound of zero length is infinity on both sides and is never encoded.
 */
export interface KeyCodec {
  /** kvrpcpb.APIVersion. */
  readonly apiVersion: number;
  readonly keyspaceId: number | undefined;
  /** The key as KV requests carry it. */
  toStore(key: Uint8Array): Uint8Array;
  /** The user's key of a key in an answer. */
  fromStore(key: Uint8Array): Uint8Array;
  /** A range as KV requests carry it. `end` of zero length is the end of the keys that this codec may see. */
  rangeToStore(start: Uint8Array, end: Uint8Array): readonly [start: Uint8Array, end: Uint8Array];
  /** A key to look up in PD. A key of zero length is encoded like any other. */
  toPd(key: Uint8Array): Uint8Array;
  /** A bound of a range in PD. */
  boundToPd(bound: Uint8Array): Uint8Array;
  /** A bound of a region. Throws TikvError `corrupt-key`. */
  boundFromPd(bound: Uint8Array): Uint8Array;
}

/** `toStore` of codecs that do not change keys. A caller that finds this function in a codec need not translate pages. */
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

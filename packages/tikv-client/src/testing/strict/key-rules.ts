import { compareBytes, keyText } from '@engram/core';
import { type RegionRange, holdsKey } from '../../region/region.ts';
import { need } from './refusal.ts';

/** TiKV's storage.max-key-size, which applies to encoded keys: nine bytes for each group of eight. */
const ENCODED_KEY_MAX = 8 << 10;

export const encodedLength = (key: Uint8Array): number => (Math.floor(key.length / 8) + 1) * 9;

export const show = (key: Uint8Array): string => `"${Buffer.from(key.subarray(0, 64)).toString('latin1')}"`;

export function needKey(key: Uint8Array, region: RegionRange, what: string): void {
  need(encodedLength(key) <= ENCODED_KEY_MAX, `${what} has ${key.length} bytes, more than storage.max-key-size allows`);
  need(
    holdsKey(region, key),
    `${what} ${show(key)} lies outside of the region ${show(region.start)}..${show(region.end)}`,
  );
}

/** Requires at least one key, no key twice, and all keys in the region. */
export function needKeys(keys: readonly Uint8Array[], region: RegionRange, what: string): void {
  need(keys.length > 0, `${what} are none`);
  for (const key of keys) needKey(key, region, `one of ${what}`);
  needUnique(keys, what);
}

export function needUnique(keys: readonly Uint8Array[], what: string): void {
  const seen = new Set<string>();
  for (const key of keys) {
    need(!seen.has(keyText(key)), `${what} name ${show(key)} twice`);
    seen.add(keyText(key));
  }
}

export function needAscending(keys: readonly Uint8Array[], what: string): void {
  for (let at = 1; at < keys.length; at += 1) {
    const order = compareBytes(keys[at - 1]!, keys[at]!);
    need(order !== 0, `${what} name ${show(keys[at]!)} twice`);
    need(order < 0, `${what} are not in order: ${show(keys[at]!)} after ${show(keys[at - 1]!)}`);
  }
}

/** Requires a range that is not empty and lies within the region. An empty `end` is infinity. */
export function needRange(start: Uint8Array, end: Uint8Array, region: RegionRange, what: string): void {
  need(end.length === 0 || compareBytes(start, end) < 0, `${what} ${show(start)}..${show(end)} is empty`);
  need(
    compareBytes(region.start, start) <= 0,
    `${what} begins at ${show(start)}, before the region ${show(region.start)}`,
  );
  need(
    region.end.length === 0 || (end.length > 0 && compareBytes(end, region.end) <= 0),
    `${what} ends at ${show(end)}, behind the region ${show(region.end)}`,
  );
}

import { compareBytes } from '@engram/core';
import { decodeMemcomparable } from '../../codec/memcomparable.ts';
import type { Timestamp } from '@engram/tso';
import type * as pd from '../../proto/gen/pdpb.ts';
import type { AllocatedTimestamps } from './allocated-timestamps.ts';
import { show } from './key-rules.ts';
import { need, Refusal } from './refusal.ts';

const FOREVER_SECONDS = 2n ** 63n - 1n;
/** Number of logical timestamps in one physical millisecond. */
const TIMESTAMPS_MAX = 1 << 18;
const GC_WORKER = 'gc_worker';

/**
 * Rules for requests that PD refuses, or accepts although they do harm: safe points from the future (all versions below are
 * collected), the collector's own name used by other services, bounds that are not encoded keys, ranges out of order. Pure.
 * Throws Refusal.
 */
export const pdRules = {
  Tso({ count }: pd.TsoRequest): void {
    need(count > 0 && count < TIMESTAMPS_MAX, `Tso.count is ${count}`);
  },
  GetRegion({ regionKey }: pd.GetRegionRequest): void {
    needEncoded(regionKey, 'GetRegion.region_key');
  },
  GetPrevRegion({ regionKey }: pd.GetRegionRequest): void {
    needEncoded(regionKey, 'GetPrevRegion.region_key');
  },
  ScanRegions({ startKey, endKey }: pd.ScanRegionsRequest): void {
    needBounds(startKey, endKey, 'ScanRegions');
  },
  BatchScanRegions({ ranges }: pd.BatchScanRegionsRequest): void {
    for (const [at, { startKey, endKey }] of ranges.entries()) {
      needBounds(startKey, endKey, 'BatchScanRegions.ranges');
      const before = ranges[at - 1]?.endKey;
      need(
        before === undefined || (before.length > 0 && compareBytes(before, startKey) <= 0),
        'BatchScanRegions.ranges overlap or are not in order',
      );
    }
  },
  UpdateGCSafePoint({ safePoint }: pd.UpdateGCSafePointRequest, timestamps: AllocatedTimestamps): void {
    needPast(safePoint, timestamps, 'UpdateGCSafePoint.safe_point');
  },
  UpdateServiceGCSafePoint(request: pd.UpdateServiceGCSafePointRequest, timestamps: AllocatedTimestamps): void {
    const { serviceId, ttl, safePoint } = request;
    if (ttl <= 0n) return;
    needPast(safePoint, timestamps, 'UpdateServiceGCSafePoint.safe_point');
    const forever = ttl === FOREVER_SECONDS;
    need(
      (new TextDecoder().decode(serviceId) === GC_WORKER) === forever,
      `UpdateServiceGCSafePoint.TTL is ${ttl}: for ever is ${GC_WORKER}'s, and nobody else's`,
    );
  },
  AdvanceTxnSafePoint({ target }: pd.AdvanceTxnSafePointRequest, timestamps: AllocatedTimestamps): void {
    needPast(target, timestamps, 'AdvanceTxnSafePoint.target');
  },
  AdvanceGCSafePoint({ target }: pd.AdvanceGCSafePointRequest, timestamps: AllocatedTimestamps): void {
    needPast(target, timestamps, 'AdvanceGCSafePoint.target');
  },
  SetGCBarrier({ barrierId, barrierTs, ttlSeconds }: pd.SetGCBarrierRequest, timestamps: AllocatedTimestamps): void {
    needPast(barrierTs, timestamps, 'SetGCBarrier.barrier_ts');
    need(barrierId.length > 0 && barrierId !== GC_WORKER, `SetGCBarrier.barrier_id is "${barrierId}"`);
    need(ttlSeconds > 0n, `SetGCBarrier.ttl_seconds is ${ttlSeconds}`);
  },
} as const;

function needPast(timestamp: Timestamp, timestamps: AllocatedTimestamps, what: string): void {
  need(
    timestamp >= 0n && timestamp <= timestamps.highest,
    `${what} ${timestamp} lies in the future: PD's highest is ${timestamps.highest}`,
  );
}

function needEncoded(key: Uint8Array, what: string): void {
  try {
    decodeMemcomparable(key);
  } catch {
    throw new Refusal(`${what} ${show(key)} is no encoded key`);
  }
}

function needBounds(start: Uint8Array, end: Uint8Array, what: string): void {
  if (start.length > 0) needEncoded(start, `${what}: a start`);
  if (end.length > 0) needEncoded(end, `${what}: an end`);
  need(end.length === 0 || compareBytes(start, end) < 0, `${what}: ${show(start)}..${show(end)} is empty`);
}

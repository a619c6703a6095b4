import { defaultImagePolicy, type ImagePolicy } from '@engram/member';
import type { SafePointOptions } from '@engram/storage-tikv';
import { ConfigError, type FlagValues } from '../flags/flag-values.ts';

/** TiKV splits a region at 96 MiB or more. A segment must stay in one region. */
const SEGMENT_BYTES_MAX = 64 << 20;
const SEGMENT_BYTES_MIN = 64 << 10;
const INTERVAL_MS_MIN = 100;
/** A member reports once in an interval, and the leader looks as often: one that lives may seem silent for two of them, and a delay. */
const SILENT_INTERVALS_MIN = 3;
/** Longer than any read of a member that must not fail because of the safe point. */
const RETENTION_MS_MIN = 600_000;

/** Defines when the leader writes images of the store into TiKV. Throws ConfigError. */
export function imagePolicy(values: FlagValues): ImagePolicy {
  const everyBytesMin = values.number('image-every-bytes-min');
  const everyBytesMax = values.number('image-every-bytes-max');
  const bytesPerSecond = values.number('image-bytes-per-second');
  const intervalMs = values.durationMs('image-interval');
  if (everyBytesMin > everyBytesMax) throw new ConfigError('--image-every-bytes-min is above --image-every-bytes-max');
  if (bytesPerSecond < 1) throw new ConfigError('--image-bytes-per-second must be at least 1');
  if (intervalMs < INTERVAL_MS_MIN) throw new ConfigError(`--image-interval must be at least ${INTERVAL_MS_MIN}ms`);
  return { ...defaultImagePolicy, everyBytesMin, everyBytesMax, bytesPerSecond, intervalMs };
}

/** How long a member may be silent before the log is trimmed without it. Throws ConfigError. */
export function memberSilentMaxMs(values: FlagValues, { intervalMs }: ImagePolicy): number {
  const silentMaxMs = values.durationMs('log-member-timeout');
  if (silentMaxMs < SILENT_INTERVALS_MIN * intervalMs)
    throw new ConfigError('--log-member-timeout must be at least three times --image-interval');
  return silentMaxMs;
}

/** How far TiKV's safe point stays behind the present. Throws ConfigError. */
export function safePoint(values: FlagValues): Pick<SafePointOptions, 'retentionMs'> {
  const retentionMs = values.durationMs('tikv-gc-retention');
  if (retentionMs !== 0 && retentionMs < RETENTION_MS_MIN)
    throw new ConfigError('--tikv-gc-retention must be 0, or at least 10m');
  return { retentionMs };
}

/** The size of the log's segments in TiKV. Throws ConfigError. */
export function logSegmentBytes(values: FlagValues): number {
  const bytes = values.number('log-segment-bytes');
  if (bytes < SEGMENT_BYTES_MIN || bytes > SEGMENT_BYTES_MAX)
    throw new ConfigError(`--log-segment-bytes: expected ${SEGMENT_BYTES_MIN} to ${SEGMENT_BYTES_MAX}`);
  return bytes;
}

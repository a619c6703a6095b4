import { ConfigError } from './flag-values.ts';

/** As many as etcd reserves for itself (server/embed/etcd.go: reservedInternalFDNum). */
const RESERVED = 150;
/** A file of the log stays open while it exists (storage-segment), and for a while beside the one that replaces it. */
const LOG_FILE_BYTES = 64 * 1024 * 1024;
/** If the machine does not say. */
const UNKNOWN_LIMIT = 65_536;

export interface DescriptorNeeds {
  /** How many the process may have open; undefined if the machine does not say. */
  readonly limit: number | undefined;
  /** The most bytes the data may take; undefined if unbounded. */
  readonly quotaBytes: number | undefined;
  /** What the operator asked for; 0: as many as there are descriptors. */
  readonly maxConnections: number;
}

/** How many descriptors the process may use: `wanted` of those that the system allows; 0: all. */
export function descriptorsMax(limit: number | undefined, wanted: number): number | undefined {
  return wanted === 0 ? limit : Math.min(wanted, limit ?? wanted);
}

/**
 * How many connections are allowed. Clients get no descriptor that the storage will need: an append without one ends
 * the process. Throws ConfigError, as etcd does, if there are too few for the store alone.
 */
export function connectionsMax({ limit = UNKNOWN_LIMIT, quotaBytes, maxConnections }: DescriptorNeeds): number {
  if (limit <= RESERVED) {
    throw new ConfigError(
      `file descriptor limit[${limit}] of the process is too low, and should be set higher than [${RESERVED}] to ensure internal usage`,
    );
  }
  const left = limit - RESERVED;
  const forLog = quotaBytes === undefined ? left / 4 : (2 * quotaBytes) / LOG_FILE_BYTES;
  const most = Math.ceil(left - Math.min(forLog, left / 2));
  return maxConnections === 0 ? most : Math.min(maxConnections, most);
}

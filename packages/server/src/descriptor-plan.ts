import { ConfigError } from './flag-values.ts';

/** As etcd keeps them for itself (server/embed/etcd.go: reservedInternalFDNum). */
const RESERVED = 150;
/** A file of the log is open for as long as it is there (storage-segment), and for a while beside what replaces it. */
const LOG_FILE_BYTES = 64 * 1024 * 1024;
/** Where a machine does not say. */
const UNKNOWN_LIMIT = 65_536;

export interface DescriptorNeeds {
  /** What the process may have open; undefined: the machine does not say. */
  readonly limit: number | undefined;
  /** The most that the data may take; undefined: no bound. */
  readonly quotaBytes: number | undefined;
  /** The operator's wish; 0: as many as there are descriptors. */
  readonly maxConnections: number;
}

/**
 * How many connections there may be: clients get no descriptor that the storage will need. An append that finds none
 * is the end of the process. Throws ConfigError, as etcd does, where there are too few for the store alone.
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

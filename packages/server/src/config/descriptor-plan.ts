import { ConfigError } from '../flags/flag-values.ts';

/** The number that etcd reserves for itself (server/embed/etcd.go: reservedInternalFDNum). */
const RESERVED = 150;
/** A file of the log stays open while it exists (storage-segment), and for a while next to the file that replaces it. */
const LOG_FILE_BYTES = 64 * 1024 * 1024;
/** What a member of a cluster plans for: 64 strangers (PeerSockets of peer), and a few sockets of each member to both sides. */
export const PEER_SOCKETS = 128;
/** Assumed if the system does not report a limit. */
const UNKNOWN_LIMIT = 65_536;

export interface DescriptorNeeds {
  /** How many descriptors the process may open. Undefined if the system does not report it. */
  readonly limit: number | undefined;
  /** The most bytes that the data may take. Undefined if unbounded. */
  readonly quotaBytes: number | undefined;
  /** Sockets of other members, and of strangers at their port. 0 on a node that is alone. */
  readonly peerSockets: number;
  /** The operator's setting. 0 derives the number from the descriptors. */
  readonly maxConnections: number;
}

/** How many descriptors the process may use: `wanted`, but at most the system's limit. With 0, that limit. */
export function descriptorsMax(limit: number | undefined, wanted: number): number | undefined {
  return wanted === 0 ? limit : Math.min(wanted, limit ?? wanted);
}

/**
 * How many connections are allowed. Clients do not get the descriptors that the storage will need, because an append
 * that gets none ends the process. Throws ConfigError, as etcd does, if there are too few for the store alone.
 */
export function connectionsMax({
  limit = UNKNOWN_LIMIT,
  quotaBytes,
  peerSockets,
  maxConnections,
}: DescriptorNeeds): number {
  if (limit <= RESERVED) {
    throw new ConfigError(
      `file descriptor limit[${limit}] of the process is too low, and should be set higher than [${RESERVED}] to ensure internal usage`,
    );
  }
  const left = Math.max(1, limit - RESERVED - Math.min(peerSockets, (limit - RESERVED) / 4));
  const forLog = quotaBytes === undefined ? left / 4 : (2 * quotaBytes) / LOG_FILE_BYTES;
  const most = Math.ceil(left - Math.min(forLog, left / 2));
  return maxConnections === 0 ? most : Math.min(maxConnections, most);
}

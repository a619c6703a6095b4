import { createHash } from 'node:crypto';
import { type MemberId, memberId } from './member.ts';

/**
 * etcd's ids (api/membership/member.go: computeMemberID, cluster.go: genID). Members with the same `--initial-cluster` and
 * token know each other's ids without asking.
 */
export function memberIdOf(peerUrls: readonly string[], token: string, addedAtSeconds?: number): MemberId {
  const text = [...peerUrls].sort().join('') + token + (addedAtSeconds === undefined ? '' : String(addedAtSeconds));
  return memberId(firstBytes(Buffer.from(text)));
}

export function clusterIdOf(members: readonly MemberId[]): bigint {
  const sorted = [...members].sort((one, other) => (one < other ? -1 : 1));
  const bytes = Buffer.alloc(8 * sorted.length);
  for (const [at, id] of sorted.entries()) bytes.writeBigUInt64BE(id, 8 * at);
  return firstBytes(bytes);
}

/** The id 0 means none, so the one hash in 2^64 that gives 0 becomes 1. */
function firstBytes(bytes: Uint8Array): bigint {
  return createHash('sha1').update(bytes).digest().readBigUInt64BE() || 1n;
}

import { damagedEntry } from './import-error.ts';

const REVISION_BYTES = 17;
const SUB_AT = 9;
const UNDERSCORE = '_'.charCodeAt(0);
const TOMBSTONE_MARK = 't'.charCodeAt(0);
/** A transaction has fewer changes than that by far. */
const SUB_MAX = 2 ** 31 - 1;

/** The place of a change in the history. */
export interface VersionKey {
  readonly main: number;
  readonly sub: number;
  readonly tombstone: boolean;
}

/** The key of an entry of the bucket `key` (etcd server/storage/mvcc/revision.go). Throws ImportError damaged. */
export function versionKey(bytes: Uint8Array): VersionKey {
  const tombstone = bytes.length === REVISION_BYTES + 1 && bytes[REVISION_BYTES] === TOMBSTONE_MARK;
  if (!tombstone && bytes.length !== REVISION_BYTES) throw notARevision(bytes);
  const main = uint64(bytes, 0);
  const sub = uint64(bytes, SUB_AT);
  if (bytes[SUB_AT - 1] !== UNDERSCORE || !Number.isSafeInteger(main) || sub > SUB_MAX) throw notARevision(bytes);
  return { main, sub, tombstone };
}

/** Big-endian. Without a DataView, which a million keys would each need. */
const uint64 = (bytes: Uint8Array, at: number): number => uint32(bytes, at) * 2 ** 32 + uint32(bytes, at + 4);
const uint32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;

const notARevision = (bytes: Uint8Array): Error =>
  damagedEntry(`an entry of the bucket key is at ${Buffer.from(bytes.subarray(0, 32)).toString('hex')}, no revision`);

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
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const main = uint64(view, 0);
  const sub = uint64(view, SUB_AT);
  if (bytes[SUB_AT - 1] !== UNDERSCORE || !Number.isSafeInteger(main) || sub > SUB_MAX) throw notARevision(bytes);
  return { main, sub, tombstone };
}

const uint64 = (view: DataView, at: number): number => view.getUint32(at) * 2 ** 32 + view.getUint32(at + 4);

const notARevision = (bytes: Uint8Array): Error =>
  damagedEntry(`an entry of the bucket key is at ${Buffer.from(bytes.subarray(0, 32)).toString('hex')}, no revision`);

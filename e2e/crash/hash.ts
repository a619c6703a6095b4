import { crc32 } from 'node:zlib';
import { mvccpb } from '@engram/wire';
import type { KeptVersion } from './history.ts';

const CASTAGNOLI = Uint32Array.from({ length: 256 }, (_, index) => {
  let remainder = index;
  for (let bit = 0; bit < 8; bit += 1) remainder = remainder & 1 ? (remainder >>> 1) ^ 0x82f63b78 : remainder >>> 1;
  return remainder >>> 0;
});

export function crc32c(bytes: Uint8Array, before = 0): number {
  let state = ~before >>> 0;
  for (const byte of bytes) state = (state >>> 8) ^ CASTAGNOLI[(state ^ byte) & 0xff]!;
  return ~state >>> 0;
}

const key = (text: string): Uint8Array => Buffer.from(text, 'latin1');

const encoded = ({ key: name, after }: KeptVersion): Uint8Array =>
  mvccpb.encodeKeyValue(
    after === undefined ? { key: key(name) } : { ...after, key: key(name), value: Buffer.from(after.value, 'latin1') },
  );

/**
 * etcd's hash: CRC-32C over the bucket's name and each version's record, in the order of revisions (mvcc/hash.go). Of
 * the versions at or below the compaction it includes only those that a compaction at the hash's own revision would
 * also keep.
 */
export function etcdHash(kept: readonly KeptVersion[], compacted: number): number {
  const newest = new Map(kept.map((version) => [version.key, version]));
  let hash = crc32c(key('key'));
  for (const version of kept) {
    const deletion = version.after === undefined;
    if (version.revision <= compacted && (deletion || newest.get(version.key) !== version)) continue;
    const record = Buffer.alloc(deletion ? 18 : 17);
    record.writeBigUInt64BE(BigInt(version.revision), 0);
    record.write('_', 8);
    record.writeBigUInt64BE(BigInt(version.sub), 9);
    if (deletion) record.write('t', 17);
    hash = crc32c(encoded(version), crc32c(record, hash));
  }
  return hash;
}

/** Engram's hash: CRC-32 over the KeyValue of each live key, in the order of keys. */
export function engramHash(kept: readonly KeptVersion[]): number {
  const newest = new Map(kept.map((version) => [version.key, version]));
  const living = [...newest.values()].filter((version) => version.after !== undefined);
  living.sort((left, right) => Buffer.compare(key(left.key), key(right.key)));
  // Of no keys it is etcd's of an empty history.
  return living.reduce((hash, version) => crc32(encoded(version), hash), 0) || etcdHash([], 0);
}

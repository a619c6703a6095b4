import { type LeaseId, utf8 } from '@engram/core';
import type { StoreImage } from '@engram/backend';
import { etcdserverpb, leasepb } from '@engram/wire';
import { minorVersion, type ServerVersion } from '../server-version.ts';
import type { ServiceParts } from '../service-parts.ts';
import { type BucketContent, smallBucket } from './bbolt-bucket.ts';
import { bboltFile } from './bbolt-file.ts';
import type { SnapshotImage } from './snapshot-image.ts';

const REVISION_BYTES = 17;
const TOMBSTONE_MARK = 't'.charCodeAt(0);
const UNDERSCORE = '_'.charCodeAt(0);

/**
 * The store as etcd's own database (etcd server/storage/schema), so that etcd's tools read it: `etcdutl snapshot status`,
 * and `restore` into an etcd. It has the history that is not compacted, leases and alarms.
 */
export async function etcdDatabase(
  parts: ServiceParts,
  version: ServerVersion,
  signal: AbortSignal,
): Promise<SnapshotImage> {
  const storageVersion = minorVersion(version);
  // The image is that of the revision at the call; what has no revision is taken in the same turn.
  const taking = parts.store.image(signal);
  const unversioned = [leaseBucket(parts), alarmBucket(parts), memberBucket(parts)];
  const image = await taking;
  try {
    const file = bboltFile(
      [
        versionsBucket(image),
        ...unversioned,
        metaBucket(parts, image, storageVersion),
        bucket('cluster', [['clusterVersion', utf8(storageVersion)]]),
        bucket('auth', [['authRevision', uint64(1n)]]),
        ...['authRoles', 'authUsers', 'members_removed'].map((name) => bucket(name, [])),
      ],
      signal,
    );
    return { bytes: file.bytes, chunks: disposing(file.chunks, image) };
  } catch (error) {
    image[Symbol.dispose]();
    throw error;
  }
}

async function* disposing(chunks: AsyncIterable<Uint8Array>, image: StoreImage): AsyncGenerator<Uint8Array> {
  using _image = image;
  yield* chunks;
}

function bucket(
  name: string,
  entries: readonly (readonly [key: string | Uint8Array, value: Uint8Array])[],
): BucketContent {
  return smallBucket(
    utf8(name),
    entries.map(([key, value]) => [typeof key === 'string' ? utf8(key) : key, value]),
  );
}

/** Every version under its revision (etcd server/storage/mvcc/revision.go: BucketKeyToBytes). */
function versionsBucket(image: StoreImage): BucketContent {
  return {
    name: utf8('key'),
    count: image.count,
    key: (at) => revisionKey(image.modRevision(at), image.sub(at), image.isTombstone(at)),
    keyBytes: (at) => (image.isTombstone(at) ? REVISION_BYTES + 1 : REVISION_BYTES),
    valueBytes: (at) => image.bytes(at),
    values: (from, to, signal) => image.read(from, to, signal),
  };
}

function revisionKey(main: number, sub: number, isTombstone = false): Uint8Array {
  const key = Buffer.alloc(isTombstone ? REVISION_BYTES + 1 : REVISION_BYTES);
  key.writeBigInt64BE(BigInt(main), 0);
  key[8] = UNDERSCORE;
  key.writeBigInt64BE(BigInt(sub), 9);
  if (isTombstone) key[REVISION_BYTES] = TOMBSTONE_MARK;
  return key;
}

function leaseBucket({ store }: ServiceParts): BucketContent {
  const lease = (ID: LeaseId): readonly [Uint8Array, Uint8Array] => {
    const TTL = store.leaseTimeToLive(ID)?.grantedTtlSeconds ?? 0;
    return [uint64(ID), leasepb.encodeLease({ ID, TTL })];
  };
  return bucket('lease', store.leases().map(lease));
}

function alarmBucket({ store }: ServiceParts): BucketContent {
  const none = new Uint8Array(0);
  const alarm = ({ memberId, alarm: kind }: { readonly memberId: bigint; readonly alarm: number }) =>
    [etcdserverpb.encodeAlarmMember({ memberID: memberId, alarm: kind }), none] as const;
  return bucket('alarm', store.alarms().map(alarm));
}

function metaBucket({ store, member }: ServiceParts, image: StoreImage, storageVersion: string): BucketContent {
  const compacted: [string, Uint8Array][] = [];
  if (image.compactRevision > 0) {
    const key = revisionKey(image.compactRevision, 0);
    compacted.push(['scheduledCompactRev', key], ['finishedCompactRev', key]);
  }
  return bucket('meta', [
    ...compacted,
    ['storageVersion', utf8(storageVersion)],
    ['consistent_index', uint64(BigInt(store.status().logPosition))],
    ['term', uint64(BigInt(member.raftTerm))],
    ['confState', utf8(`{"voters":[${member.memberId}],"auto_leave":false}`)],
  ]);
}

function memberBucket({ member }: ServiceParts): BucketContent {
  const { memberId, name, peerUrls, clientUrls } = member;
  const text = JSON.stringify({ id: 0, peerURLs: peerUrls, name, clientURLs: clientUrls });
  // The id takes all 64 bits, which JSON.stringify cannot write as a number.
  const value = text.replace('{"id":0,', `{"id":${memberId},`);
  return bucket('members', [[memberId.toString(16), utf8(value)]]);
}

function uint64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt.asUintN(64, value));
  return bytes;
}

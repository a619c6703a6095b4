import { encodeAuthBuckets } from '@engram/auth';
import { utf8 } from '@engram/core';
import { bboltFile, type BucketContent, smallBucket } from '@engram/bbolt';
import { type LeaseGrant, nodeItself, type StoreImage } from '@engram/backend';
import { etcdserverpb, leasepb } from '@engram/wire';
import type { Member } from '../cluster-view.ts';
import { minorVersion, type ServerVersion } from '../server-version.ts';
import type { ServiceParts } from '../service-parts.ts';
import { pace, SNAPSHOT } from './pace.ts';
import type { SnapshotImage } from './snapshot-image.ts';

const REVISION_BYTES = 17;
const TOMBSTONE_MARK = 't'.charCodeAt(0);
const LEASE_KEY_BYTES = 8;
const UNDERSCORE = '_'.charCodeAt(0);
const MOD_REVISION_TAG_BYTES = 1;

/**
 * The store as a database in etcd's own format (etcd server/storage/schema), which etcd's tools read: `etcdutl snapshot
 * status`, and `restore` into an etcd. It contains the history that is not compacted, leases, alarms, users
 * and roles, with the hashes of their passwords.
 */
export async function etcdDatabase(
  parts: ServiceParts,
  version: ServerVersion,
  signal: AbortSignal,
): Promise<SnapshotImage> {
  const storageVersion = minorVersion(version);
  // Each begins in a slice of its own, because what it takes at once is a slice of work, and clients begin many in one turn.
  await parts.loop.pause(SNAPSHOT, signal);
  // The image has the revision of this turn. Data without a revision is taken in the same turn.
  const taking = parts.store.image(signal);
  const leases = parts.store.leases('by-id', nodeItself);
  const { auth, authUsers, authRoles } = encodeAuthBuckets(parts.auth.view.state);
  const others = [alarmBucket(parts), memberBucket(parts)];
  const image = await taking;
  try {
    const unversioned = [leaseBucket(await leases), ...others];
    const file = await bboltFile(
      [
        versionsBucket(image),
        ...unversioned,
        metaBucket(parts, image, storageVersion),
        bucket('cluster', [['clusterVersion', utf8(storageVersion)]]),
        bucket('auth', auth),
        bucket('authUsers', authUsers),
        bucket('authRoles', authRoles),
        bucket('members_removed', []),
      ],
      pace(parts.loop, parts.options.clock, signal),
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
  // The value of a tombstone is the key alone, so that etcd's hashes of the same history are the same. Here its revision is behind it.
  const valueBytes = (at: number): number =>
    image.bytes(at) - (image.isTombstone(at) ? MOD_REVISION_TAG_BYTES + varintBytes(image.modRevision(at)) : 0);
  return {
    name: utf8('key'),
    count: image.count,
    keyBytes: (at) => (image.isTombstone(at) ? REVISION_BYTES + 1 : REVISION_BYTES),
    putKey: (at, into, offset) => {
      putRevision(into, offset, image.modRevision(at), image.sub(at));
      if (image.isTombstone(at)) into[offset + REVISION_BYTES] = TOMBSTONE_MARK;
    },
    valueBytes,
    values: async (from, to, signal) =>
      (await image.read(from, to, signal)).map((kv, more) =>
        image.isTombstone(from + more) ? kv.subarray(0, valueBytes(from + more)) : kv,
      ),
  };
}

function putRevision(into: Uint8Array, offset: number, main: number, sub: number): void {
  putUint64(into, offset, main);
  into[offset + 8] = UNDERSCORE;
  putUint64(into, offset + 9, sub);
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
}

/** Big-endian. Avoids a bigint, because it runs for each version. */
function putUint64(into: Uint8Array, offset: number, value: number): void {
  let rest = value;
  for (let at = offset + 7; at >= offset; at -= 1) {
    into[at] = rest % 256;
    rest = Math.floor(rest / 256);
  }
}

/** Of a list that snapshots share. It takes no memory of its own. */
function leaseBucket(leases: readonly LeaseGrant[]): BucketContent {
  const encoded = (at: number): Uint8Array => {
    const { id, grantedTtlSeconds } = leases[at]!;
    return leasepb.encodeLease({ ID: id, TTL: grantedTtlSeconds });
  };
  return {
    name: utf8('lease'),
    count: leases.length,
    keyBytes: () => LEASE_KEY_BYTES,
    putKey: (at, into, offset) => into.set(uint64(leases[at]!.id), offset),
    valueBytes: (at) => encoded(at).length,
    values: async (from, to) => leases.slice(from, to).map((_, more) => encoded(from + more)),
  };
}

function alarmBucket({ store }: ServiceParts): BucketContent {
  const none = new Uint8Array(0);
  const alarm = ({ memberId, alarm: kind }: { readonly memberId: bigint; readonly alarm: number }) =>
    [etcdserverpb.encodeAlarmMember({ memberID: memberId, alarm: kind }), none] as const;
  return bucket('alarm', store.alarms().map(alarm));
}

function metaBucket({ store, cluster }: ServiceParts, image: StoreImage, storageVersion: string): BucketContent {
  const compacted: [string, Uint8Array][] = [];
  if (image.compactRevision > 0) {
    const compactedAt = new Uint8Array(REVISION_BYTES);
    putRevision(compactedAt, 0, image.compactRevision, 0);
    compacted.push(['scheduledCompactRev', compactedAt], ['finishedCompactRev', compactedAt]);
  }
  return bucket('meta', [
    ...compacted,
    ['storageVersion', utf8(storageVersion)],
    ['consistent_index', uint64(BigInt(store.status().logPosition))],
    ['term', uint64(BigInt(cluster.term))],
    ['confState', utf8(confState(cluster.members))],
  ]);
}

/** Raft's ConfState as JSON. Ids have 64 bits, which JSON.stringify cannot write as numbers. */
function confState(members: readonly Member[]): string {
  const ids = (learners: boolean): string =>
    members
      .filter(({ isLearner }) => isLearner === learners)
      .map(({ id }) => id)
      .join();
  const learners = ids(true);
  return `{"voters":[${ids(false)}],${learners === '' ? '' : `"learners":[${learners}],`}"auto_leave":false}`;
}

function memberBucket({ cluster }: ServiceParts): BucketContent {
  return bucket(
    'members',
    cluster.members.map(({ id, name, peerUrls, clientUrls, isLearner }) => {
      const learner = isLearner ? { isLearner } : {};
      const text = JSON.stringify({ id: 0, peerURLs: peerUrls, ...learner, name, clientURLs: clientUrls });
      return [id.toString(16), utf8(text.replace('{"id":0,', `{"id":${id},`))];
    }),
  );
}

function uint64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt.asUintN(64, value));
  return bytes;
}

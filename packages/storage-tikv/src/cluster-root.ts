import { StorageOpenError } from '@engram/storage';
import { type CallOptions, isTikvError, type TikvClient } from '@engram/tikv-client';
import { type RevisionOrigin, revisionAt, SEQUENCE_ORIGIN, timestampText } from '@engram/tso';
import type { LogKeys } from './format/log-keys.ts';
import { decodeRestoreMark } from './format/restore-mark.ts';

/** A member at the founding of the cluster. Raft keeps later changes of the membership. */
export interface FoundingMember {
  readonly id: bigint;
  readonly name: string;
  readonly peerUrls: readonly string[];
}

/** An etcd whose revisions a store takes, one as one of its own. */
export interface FollowedEtcd {
  readonly clusterId: bigint;
  /** The endpoints that were given at the founding, for the operator. */
  readonly from: readonly string[];
}

/** What a cluster is founded with. */
export interface ClusterFounding {
  readonly clusterId: bigint;
  readonly members: readonly FoundingMember[];
  /** 'sequence' if absent. */
  readonly revisionOrigin?: RevisionOrigin;
  /** See `ClusterRoot`. A random number, not 0. */
  readonly foundingId?: bigint;
  /** See `ClusterRoot`. */
  readonly follows?: FollowedEtcd | undefined;
}

/** The cluster that owns a prefix. The first member that starts writes it, once. */
export interface ClusterRoot {
  readonly clusterId: bigint;
  readonly members: readonly FoundingMember[];
  /** The revision of the cluster before its first write. */
  readonly firstRevision: number;
  /**
   * Drawn when the cluster was founded. Clusters that are founded one after another at one prefix, with equal URLs and tokens,
   * differ in it. Undefined in a root of a program that drew none.
   */
  readonly foundingId?: bigint;
  /** While it is there, only the follower of that etcd writes revisions. `endFollowing` removes it, and nothing puts it back. */
  readonly follows?: FollowedEtcd | undefined;
}

export interface OpenRootOptions {
  readonly client: TikvClient;
  readonly keys: LogKeys;
  /** The cluster to found if the prefix is unused; undefined if the cluster must exist already. */
  readonly found?: ClusterFounding | undefined;
  /** The cluster that the caller belongs to, if the caller knows it. */
  readonly clusterId?: bigint | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The timeout of each request. */
  readonly timeoutMs: number;
}

const MAGIC = 'engram cluster';
/** Of a store that follows an etcd: a program that does not know it would let clients write. */
const FORMAT = 3;
/** For clusters whose revisions do not begin at 1. */
const FORMAT_OF_ORIGIN = 2;
/** For all others. Programs that do not know other origins may serve them. */
const FORMAT_OF_SEQUENCE = 1;

/**
 * Returns the cluster that owns the prefix. If the prefix is unused, every member that starts may try to found the cluster:
 * one insert succeeds, and all members get the root that it wrote. Rejects with StorageOpenError: `not-ours`, `newer-format`,
 * `other-cluster`, `missing` (no cluster there, and none to found), `unfinished` (a restore has begun there, and not ended),
 * `not-accessible` (PD or TiKV does not answer).
 */
export async function openRoot(options: OpenRootOptions): Promise<ClusterRoot> {
  try {
    return await decideRoot(options);
  } catch (error) {
    if (options.signal?.aborted) throw options.signal.reason;
    if (!isTikvError(error)) throw error;
    throw new StorageOpenError('not-accessible', `cannot reach TiKV at ${where(options)}: ${error.message}`, {
      cause: error,
    });
  }
}

async function decideRoot(options: OpenRootOptions): Promise<ClusterRoot> {
  const { client, keys, found, clusterId, signal, timeoutMs } = options;
  const call: CallOptions = { signal, timeoutMs };
  // The second round finds the winner's root. More rounds are needed only if answers are lost.
  let held: string | undefined;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const txn = await client.begin(call);
    const value = await txn.get(keys.root, call);
    if (value !== undefined) {
      if (decodeRestoreMark(value) !== undefined) throw unfinished(options);
      const root = parseRoot(value, where(options));
      if (clusterId !== undefined && root.clusterId !== clusterId) {
        throw new StorageOpenError(
          'other-cluster',
          `${where(options)} belongs to cluster ${hex(root.clusterId)}, not to ${hex(clusterId)}`,
        );
      }
      return root;
    }
    const newest = round === 0 ? undefined : await client.get(keys.root, call);
    if (newest !== undefined && (await (await client.snapshot(call)).get(keys.root, call)) === undefined) {
      const text = `the timestamps of PD went back: ${timestampText(txn.startTs)} does not show ${where(options)}`;
      throw new StorageOpenError('not-accessible', text);
    }
    if (held !== undefined) {
      throw new StorageOpenError(
        'not-ours',
        `${where(options)} holds keys (${held}), and does not say of which cluster`,
      );
    }
    const { start, end } = keys.range;
    for await (const { key } of txn.snapshot.scan(start, end, { ...call, limit: 1, keysOnly: true })) {
      held = Buffer.from(key).toString('hex');
    }
    // Another member may have founded the cluster just now: stores have shown its root to the scan, but not to the `get`.
    if (held !== undefined) continue;
    if (found === undefined) throw new StorageOpenError('missing', `there is no cluster at ${where(options)}`);
    const firstRevision = revisionAt(found.revisionOrigin ?? 'sequence', txn.startTs);
    txn.insert(keys.root, encodeRoot({ ...found, firstRevision }));
    await txn.commitOnePhase(call);
  }
  throw new StorageOpenError('not-accessible', `nobody's insert of a cluster at ${where(options)} gets through`);
}

const ROUNDS_MAX = 10;

/** What a prefix is into which a restore has begun, and not ended. */
export const unfinished = (of: PrefixPlace): StorageOpenError =>
  new StorageOpenError(
    'unfinished',
    `${where(of)} is of a restore that runs, or that was ended before it was done. In the latter case begin it again, with --discard-unfinished`,
  );

export function encodeRoot({ clusterId, members, firstRevision, foundingId, follows }: ClusterRoot): Uint8Array {
  const isSequence = firstRevision === SEQUENCE_ORIGIN;
  const text = {
    magic: MAGIC,
    format: follows !== undefined ? FORMAT : isSequence ? FORMAT_OF_SEQUENCE : FORMAT_OF_ORIGIN,
    ...(isSequence ? undefined : { firstRevision }),
    ...(follows === undefined ? undefined : { follows: { clusterId: hex(follows.clusterId), from: follows.from } }),
    clusterId: hex(clusterId),
    // Programs that do not know it skip it.
    ...(foundingId === undefined ? undefined : { foundingId: hex(foundingId) }),
    members: members.map(({ id, name, peerUrls }) => ({ id: hex(id), name, peerUrls })),
  };
  return Buffer.from(`${JSON.stringify(text)}\n`);
}

/** Throws StorageOpenError: `not-ours`, `newer-format`. `where` names the prefix. */
export function parseRoot(value: Uint8Array, where: string): ClusterRoot {
  const object = parseObject(value);
  if (object?.['magic'] !== MAGIC || typeof object['format'] !== 'number') {
    throw new StorageOpenError('not-ours', `${where} belongs to something else`);
  }
  if (object['format'] > FORMAT) {
    const known = `${FORMAT} is the newest that this program knows`;
    throw new StorageOpenError('newer-format', `${where} has format ${object['format']}, and ${known}`);
  }
  const clusterId = parseId(object['clusterId']);
  const members = Array.isArray(object['members']) ? object['members'].map(parseMember) : [undefined];
  const firstRevision = object['firstRevision'] ?? SEQUENCE_ORIGIN;
  const isDrawn = 'foundingId' in object;
  const foundingId = parseId(object['foundingId']);
  const isFounded = !isDrawn || (foundingId !== undefined && foundingId > 0n);
  const follows = parseFollowed(object['follows']);
  const isFollowedKnown = follows !== undefined || (!('follows' in object) && object['format'] !== FORMAT);
  const isWhole = clusterId !== undefined && !members.includes(undefined) && isRevision(firstRevision);
  if (!isWhole || !isFounded || !isFollowedKnown) {
    throw new StorageOpenError('not-ours', `what ${where} says of its cluster is damaged`);
  }
  return {
    clusterId,
    members: members.filter((member) => member !== undefined),
    firstRevision,
    ...(foundingId === undefined ? undefined : { foundingId }),
    ...(follows === undefined ? undefined : { follows }),
  };
}

function parseFollowed(followed: unknown): FollowedEtcd | undefined {
  if (!isObject(followed) || !Array.isArray(followed['from'])) return undefined;
  const clusterId = parseId(followed['clusterId']);
  return clusterId === undefined ? undefined : { clusterId, from: followed['from'].map(String) };
}

function parseObject(value: Uint8Array): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(value).toString());
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function parseMember(member: unknown): FoundingMember | undefined {
  if (!isObject(member)) return undefined;
  const id = parseId(member['id']);
  const { name, peerUrls } = member;
  if (id === undefined || typeof name !== 'string' || !Array.isArray(peerUrls)) return undefined;
  const urls = peerUrls.filter((url) => typeof url === 'string');
  return urls.length === peerUrls.length ? { id, name, peerUrls: urls } : undefined;
}

function parseId(text: unknown): bigint | undefined {
  return typeof text === 'string' && /^[\da-f]{1,16}$/.test(text) ? BigInt(`0x${text}`) : undefined;
}

const isRevision = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= SEQUENCE_ORIGIN;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const hex = (id: bigint): string => id.toString(16);

/** Names a prefix in errors. */
export type PrefixPlace = Pick<OpenRootOptions, 'client' | 'keys'>;

export const where = ({ client, keys }: PrefixPlace): string =>
  `the prefix ${JSON.stringify(keys.prefix)} of TiKV cluster ${client.status.clusterId}`;

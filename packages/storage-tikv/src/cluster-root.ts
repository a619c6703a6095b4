import { StorageOpenError } from '@engram/storage';
import { type CallOptions, isTikvError, type TikvClient } from '@engram/tikv-client';
import type { LogKeys } from './log-keys.ts';

/** A member as the cluster was founded. Who is a member later is Raft's. */
export interface FoundingMember {
  readonly id: bigint;
  readonly name: string;
  readonly peerUrls: readonly string[];
}

/** Whose a prefix is. Written once, by the first member that starts. */
export interface ClusterRoot {
  readonly clusterId: bigint;
  readonly members: readonly FoundingMember[];
}

export interface OpenRootOptions {
  readonly client: TikvClient;
  readonly keys: LogKeys;
  /** What to found where the prefix is unused; undefined: it must have been founded. */
  readonly found?: ClusterRoot | undefined;
  /** The cluster that the caller belongs to, where he knows it. */
  readonly clusterId?: bigint | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Of each question. */
  readonly timeoutMs: number;
}

const MAGIC = 'engram cluster';
const FORMAT = 1;

/**
 * Whose the prefix is. Where it is nobody's, all members that start may try to found the cluster: one insert decides, and
 * all get what the winner wrote. Rejects with StorageOpenError: `not-ours`, `newer-format`, `other-cluster`, `missing`
 * (nothing to found, and nothing there), `not-accessible` (PD or TiKV does not answer).
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
  // A winner is found in the second round; more are needed only where answers are lost.
  let held: string | undefined;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const txn = await client.begin(call);
    const value = await txn.get(keys.root, call);
    if (value !== undefined) {
      const root = parseRoot(value, where(options));
      if (clusterId !== undefined && root.clusterId !== clusterId) {
        throw new StorageOpenError(
          'other-cluster',
          `${where(options)} belongs to cluster ${hex(root.clusterId)}, not to ${hex(clusterId)}`,
        );
      }
      return root;
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
    // Another member may have founded the cluster just now: stores have been seen to show its root to the scan alone.
    if (held !== undefined) continue;
    if (found === undefined) throw new StorageOpenError('missing', `there is no cluster at ${where(options)}`);
    txn.insert(keys.root, encodeRoot(found));
    await txn.commitOnePhase(call);
  }
  throw new StorageOpenError('not-accessible', `nobody's insert of a cluster at ${where(options)} gets through`);
}

const ROUNDS_MAX = 10;

function encodeRoot({ clusterId, members }: ClusterRoot): Uint8Array {
  const text = {
    magic: MAGIC,
    format: FORMAT,
    clusterId: hex(clusterId),
    members: members.map(({ id, name, peerUrls }) => ({ id: hex(id), name, peerUrls })),
  };
  return Buffer.from(`${JSON.stringify(text)}\n`);
}

function parseRoot(value: Uint8Array, where: string): ClusterRoot {
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
  if (clusterId === undefined || members.includes(undefined)) {
    throw new StorageOpenError('not-ours', `what ${where} says of its cluster is damaged`);
  }
  return { clusterId, members: members.filter((member) => member !== undefined) };
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

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const hex = (id: bigint): string => id.toString(16);

const where = ({ client, keys }: OpenRootOptions): string =>
  `the prefix ${JSON.stringify(keys.prefix)} of TiKV cluster ${client.status.clusterId}`;

import { StorageOpenError } from '@engram/storage';
import { type CallOptions, isTikvError } from '@engram/tikv-client';
import { type ClusterRoot, encodeRoot, parseRoot, type PrefixPlace, where } from './cluster-root.ts';
import { decodeRestoreMark } from './format/restore-mark.ts';

export interface FollowedRootOptions extends PrefixPlace {
  readonly signal: AbortSignal;
  /** The timeout of each request. */
  readonly timeoutMs: number;
}

/** The attempts of the transaction. They all fail only if answers are always lost. */
const ATTEMPTS_MAX = 10;

/**
 * The root of the cluster at the prefix, as of a moment after the call, or what the prefix is instead. Read at the newest version:
 * timestamps of a PD that went back do not bring back an etcd that the store follows no more. Rejects with StorageOpenError:
 * `not-ours`, `newer-format`, `not-accessible`.
 */
export async function newestRoot(options: FollowedRootOptions): Promise<ClusterRoot | 'missing' | 'unfinished'> {
  const { client, keys, signal, timeoutMs } = options;
  return await reaching(options, async () => {
    const value = await client.get(keys.root, { signal, timeoutMs });
    if (value === undefined) return 'missing';
    return decodeRestoreMark(value) === undefined ? parseRoot(value, where(options)) : 'unfinished';
  });
}

/**
 * The store follows no etcd from now on. Resolves when that is so for good, also if it was so before. Rejects as `newestRoot`, with
 * `missing`, and with `other-cluster` if the prefix is of another cluster than `foundingId`; after `not-accessible` it is unknown.
 */
export async function endFollowing(options: FollowedRootOptions, foundingId: bigint | undefined): Promise<void> {
  const { client, keys, signal, timeoutMs } = options;
  const call: CallOptions = { signal, timeoutMs };
  await reaching(options, async () => {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const txn = await client.begin(call);
      const value = await txn.get(keys.root, call);
      if (value === undefined) throw new StorageOpenError('missing', `there is no cluster at ${where(options)}`);
      const { follows, ...root } = parseRoot(value, where(options));
      if (root.foundingId !== foundingId) {
        throw new StorageOpenError('other-cluster', `${where(options)} was taken by another cluster`);
      }
      if (follows === undefined) return;
      txn.put(keys.root, encodeRoot(root));
      const outcome = await txn.commit(call);
      const { kind } = outcome.kind === 'undetermined' ? await outcome.settle(call) : outcome;
      if (kind === 'committed') return;
    }
    throw new StorageOpenError('not-accessible', `the root of ${where(options)} cannot be changed`);
  });
}

async function reaching<Result>(options: FollowedRootOptions, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    if (!isTikvError(error)) throw error;
    throw new StorageOpenError('not-accessible', `cannot reach TiKV at ${where(options)}: ${error.message}`, {
      cause: error,
    });
  }
}

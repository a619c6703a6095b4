import { compareBytes, type KeyRange, keySuccessor } from '@engram/core';
import type { etcdserverpb } from '@engram/wire';
import { CtlError } from '../cli/ctl-error.ts';
import { calls } from './calls.ts';
import type { EtcdClient } from './etcd-client.ts';
import { isRpcError } from './rpc-error.ts';

/** What a page should have: enough that its request costs nothing beside it, and little enough to hold. */
const PAGE_BYTES = 4 << 20;
const PAGE_KEYS_FIRST = 256;
const PAGE_KEYS_MAX = 16_384;

export interface PagedRange {
  readonly range: KeyRange;
  /** 0: the revision of the first page, for all of them. */
  readonly revision: number;
  readonly keysOnly: boolean;
}

/**
 * The key-values of a range in the order of their keys, all at one revision, in pages of some MiB. The first page comes also if
 * there is no key. A page that is larger than a message may be is asked for again in parts. Throws RpcError, and CtlError failed
 * where a compaction overtakes the reading.
 */
export async function* rangePages(
  client: EtcdClient,
  { range, revision, keysOnly }: PagedRange,
  signal: AbortSignal,
): AsyncGenerator<etcdserverpb.RangeResponse> {
  let { key } = range;
  let limit = PAGE_KEYS_FIRST;
  let at = revision;
  for (;;) {
    let page: etcdserverpb.RangeResponse;
    try {
      page = await client.unary(calls.range, { key, rangeEnd: range.end, limit, revision: at, keysOnly }, signal);
    } catch (error) {
      if (isRpcError(error, 'RESOURCE_EXHAUSTED') && limit > 1) {
        limit = Math.max(1, limit >> 2);
        continue;
      }
      if (isCompacted(error) && revision === 0 && at !== 0) {
        const why = `the revision ${at} was compacted while it was read`;
        throw new CtlError('failed', `${why}: try again, or read a snapshot (etcdctl snapshot save)`, { cause: error });
      }
      throw error;
    }
    if (at === 0) at = page.header?.revision ?? 0;
    yield page;
    const last = page.kvs.at(-1);
    if (last === undefined || !page.more) return;
    // Whoever answers may be no etcd: the reading goes on to the end, or ends.
    if (compareBytes(last.key, key) < 0)
      throw new CtlError('failed', 'the store answers with keys before those asked for');
    key = keySuccessor(last.key);
    limit = nextLimit(page, limit);
  }
}

export const isCompacted = (error: unknown): boolean =>
  isRpcError(error, 'OUT_OF_RANGE') && error.message.includes('has been compacted');

function nextLimit({ kvs }: etcdserverpb.RangeResponse, limit: number): number {
  let bytes = 0;
  for (const { key, value } of kvs) bytes += key.length + value.length + 64;
  const fitting = Math.floor((PAGE_BYTES / Math.max(1, bytes)) * kvs.length);
  // No more than the double: the next keys may be larger.
  return Math.max(1, Math.min(fitting, limit * 2, PAGE_KEYS_MAX));
}

import { prefixRange } from '@engram/core';
import type { etcdserverpb } from '@engram/wire';
import type { EtcdClient } from '../client/etcd-client.ts';
import { rangePages } from '../client/range-pages.ts';
import type { StoreContent, StoredPage } from './stored-key.ts';

/** The keys of a live store that begin with the prefix, all at one revision. */
export async function liveContent(client: EtcdClient, prefix: Uint8Array, signal: AbortSignal): Promise<StoreContent> {
  const pages = rangePages(client, { range: prefixRange(prefix), revision: 0, keysOnly: false }, signal);
  const first = await pages.next();
  const revision = first.done === true ? 0 : (first.value.header?.revision ?? 0);
  return {
    name: client.endpoint.text,
    revision,
    compactRevision: undefined,
    pages: storedPages(first.done === true ? undefined : first.value, pages),
  };
}

async function* storedPages(
  first: etcdserverpb.RangeResponse | undefined,
  rest: AsyncIterable<etcdserverpb.RangeResponse>,
): AsyncGenerator<StoredPage> {
  if (first === undefined) return;
  yield { keys: first.kvs, old: [] };
  for await (const { kvs } of rest) yield { keys: kvs, old: [] };
}

import { createHash } from 'node:crypto';
import type { mvccpb } from '@engram/wire';
import { bounded } from '../../test/support/bounded.ts';
import { ALL_KEYS, EtcdError, type EtcdClient } from '../../test/support/etcd-client.ts';
import { revisionOf } from './fill.ts';

const WATCH_MAX_MS = 30_000;

/** The content of a store as lines of text. Equal stores give equal lines. */
export type Picture = readonly string[];

function kvLine(kv: mvccpb.KeyValue): string {
  const key = Buffer.from(kv.key).toString('latin1');
  const value = createHash('sha256').update(kv.value).digest('hex');
  const { createRevision, modRevision, version, lease } = kv;
  return `${JSON.stringify(key)} created ${createRevision} modified ${modRevision} version ${version} lease ${lease} value ${value}`;
}

/** Every key at a revision. 0 means the newest. */
export async function keysAt(client: EtcdClient, revision: number): Promise<Picture> {
  const { kvs, count, more } = await client.range({ ...ALL_KEYS, revision });
  return [`count ${count} more ${more}`, ...kvs.map(kvLine)];
}

/** The newest revision, and the answers for compacted revisions. */
export async function boundary(client: EtcdClient, compacted: number): Promise<Picture> {
  const { header } = await client.range({ ...ALL_KEYS, countOnly: true });
  const { compactRevision } = await client.hashKv();
  const below = await client.range({ ...ALL_KEYS, revision: compacted - 1 }).then(
    () => 'readable',
    (error: unknown) => (error instanceof EtcdError ? error.message : String(error)),
  );
  const again = await client.compact({ revision: compacted }).then(
    () => 'compacted again',
    (error: unknown) => (error instanceof EtcdError ? error.message : String(error)),
  );
  return [`revision ${revisionOf(header)}`, `compact revision ${compactRevision}`, `below it: ${below}`, again];
}

/** Every event from one revision to another, each with the previous value. */
export async function history(client: EtcdClient, from: number, to: number): Promise<Picture> {
  const lines: string[] = [];
  const read = async (): Promise<void> => {
    for await (const { events, canceled, cancelReason } of client.watch({
      ...ALL_KEYS,
      startRevision: from,
      prevKv: true,
    })) {
      if (canceled) throw new Error(`the watch ended: ${cancelReason}`);
      for (const { type, kv, prevKv } of events) {
        if (kv === undefined) throw new Error('an event without a key');
        if (kv.modRevision > to) return;
        lines.push(`${type === 0 ? 'put' : 'delete'} ${kvLine(kv)}, before: ${prevKv && kvLine(prevKv)}`);
      }
      if ((events.at(-1)?.kv?.modRevision ?? 0) >= to) return;
    }
  };
  await bounded(`the events up to ${to}`, WATCH_MAX_MS, read());
  return lines;
}

export async function leases(client: EtcdClient): Promise<Picture> {
  const { leases: all } = await client.leaseLeases();
  const ids = all.map(({ ID }) => ID).toSorted((left, right) => (left < right ? -1 : 1));
  const lines: string[] = [];
  for (const ID of ids) {
    const { grantedTTL, TTL, keys } = await client.leaseTimeToLive({ ID, keys: true });
    const names = keys.map((key) => Buffer.from(key).toString('latin1')).toSorted();
    lines.push(`lease ${ID} of ${grantedTTL} s, runs ${TTL > 0}: ${names.join(' ')}`);
  }
  return lines;
}

/** Throws at the first difference. */
export function same(what: string, found: Picture, wanted: Picture): void {
  for (let line = 0; line < Math.max(found.length, wanted.length); line += 1) {
    if (found[line] === wanted[line]) continue;
    throw new Error(`${what}, line ${line}:\n  restored: ${found[line]}\n  saved:    ${wanted[line]}`);
  }
}

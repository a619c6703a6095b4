import { setTimeout as delay } from 'node:timers/promises';
import { RawClient } from '@engram/transport/testing';
import { SettingId } from '@engram/http2';
import { etcdserverpb } from '@engram/wire';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import type { Attack, Target } from './attack.ts';

/* Attacks on what a store keeps beside keys, and on what its calls gather before they answer. */

/** Calls under way at a time. */
const TOGETHER = 200;
const KEYS_EACH_TXN = 100;
const path = {
  timeToLive: '/etcdserverpb.Lease/LeaseTimeToLive',
  snapshot: '/etcdserverpb.Maintenance/Snapshot',
} as const;

/** Makes `count` calls, many at a time. Refusals are part of the attack. Ends after the patience. */
async function many(
  { port, patienceMs }: Target,
  count: number,
  call: (client: EtcdClient, at: number) => Promise<unknown>,
): Promise<void> {
  using client = new EtcdClient(`127.0.0.1:${port}`, { deadlineMs: patienceMs });
  const endMs = performance.now() + patienceMs;
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < count && performance.now() < endMs) {
      next += 1;
      await call(client, next).catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, one));
}

const grant = (client: EtcdClient): Promise<unknown> => client.leaseGrant({ TTL: 100_000 });

/** Calls whose answers the client does not read, `each` on each of `connections` connections. Holds them for a while. */
async function unread(
  { port }: Target,
  method: string,
  request: Uint8Array,
  { connections, each }: { readonly connections: number; readonly each: number },
): Promise<void> {
  const clients = await Promise.all(
    Array.from({ length: connections }, () => RawClient.open(port, [[SettingId.INITIAL_WINDOW_SIZE, 0]])),
  );
  for (const client of clients) {
    for (let at = 0; at < each && !client.closed; at += 1) client.write(client.request(2 * at + 1, method, request));
  }
  await delay(8_000);
  for (const client of clients) client[Symbol.dispose]();
}

export const stateAttacks: readonly Attack[] = [
  {
    name: 'leases',
    what: '200,000 leases, then 20 lists of them at a time, 100 in all',
    async run(target) {
      await many(target, 200_000, grant);
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          using client = new EtcdClient(`127.0.0.1:${target.port}`, { deadlineMs: target.patienceMs });
          for (let at = 0; at < 5; at += 1) await client.leaseLeases().catch(() => {});
        }),
      );
    },
  },
  {
    name: 'snapshots-of-leases',
    what: '200,000 leases, then 40 snapshots that are not read',
    async run(target) {
      await many(target, 200_000, grant);
      await unread(target, path.snapshot, etcdserverpb.encodeSnapshotRequest({}), { connections: 4, each: 10 });
    },
  },
  {
    name: 'lease-keys',
    what: '100,000 keys on one lease, then 120 calls of LeaseTimeToLive with keys that are not read',
    async run(target) {
      const lease = 77n;
      await many(target, 1, (client) => client.leaseGrant({ ID: lease, TTL: 100_000 }));
      await many(target, 1_000, (client, at) =>
        client.txn({
          success: Array.from({ length: KEYS_EACH_TXN }, (_, more) => ({
            requestPut: { key: Buffer.from(`/leased/${String(KEYS_EACH_TXN * at + more).padStart(40, '0')}`), lease },
          })),
        }),
      );
      const request = etcdserverpb.encodeLeaseTimeToLiveRequest({ ID: lease, keys: true });
      await unread(target, path.timeToLive, request, { connections: 12, each: 10 });
    },
  },
  {
    name: 'long-gets',
    what: '60 values of 1 MB, then 2,000 gets of them, 200 at a time on each of four connections',
    async run(target) {
      const key = (at: number): Buffer => Buffer.from(`/long/${at % 60}`);
      const value = Buffer.alloc(1_000_000, 'v');
      // Few at a time: all of them together are more than the bound of requests below a limit of 384 MiB.
      for (let from = 0; from < 60; from += 4)
        await many(target, 4, (client, at) => client.put({ key: key(from + at), value }));
      await Promise.all(
        Array.from({ length: 4 }, () => many(target, 500, (client, at) => client.range({ key: key(at) }))),
      );
    },
  },
  {
    name: 'alarms',
    what: '20,000 alarms of members that there are not, then 500 calls of Status; other clients cannot put meanwhile',
    async run(target) {
      await many(target, 20_000, (client, at) => client.alarm({ action: 1, memberID: BigInt(at), alarm: 1 }));
      await many(target, 500, (client) => client.status());
      await fetch(`http://127.0.0.1:${target.port}/metrics`).then((answer) => answer.text());
    },
  },
];

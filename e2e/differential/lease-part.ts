import type { Judge } from './judge.ts';
import type { Fields } from './messages.ts';
import * as ask from './methods.ts';
import { everything } from './kv-part.ts';
import { StreamPair } from './stream-pair.ts';
import { compareWatches, headerRevision, isCreated } from './watch-log.ts';

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** Compares ids and TTLs at their limits, then leases that expire with their keys. */
export async function leasePart(judge: Judge): Promise<void> {
  for (const ID of [1n, -1n, INT64_MAX, INT64_MIN, 2n ** 53n + 1n]) {
    for (const TTL of [0n, 1n, -1n, INT64_MIN, INT64_MAX, 9_000_000_000n, 9_000_000_001n, 600n, 600n]) {
      const { code } = await judge.call(ask.leaseGrant, { ID, TTL });
      if (code === 'OK' && TTL < 600n) await judge.call(ask.leaseRevoke, { ID });
    }
    await aboutLease(judge, { ID });
    await judge.call(ask.put, { key: 'leased', lease: ID });
    await judge.call(ask.put, { key: `leased ${ID}`, lease: ID });
    await aboutLease(judge, { ID });
    await judge.call(ask.leaseKeepAlive, { ID });
    await judge.call(ask.leaseRevoke, { ID });
    await aboutLease(judge, { ID });
  }
  for (const ID of [0n, 5n]) await aboutLease(judge, { ID });
  await judge.call(ask.put, { key: 'k', lease: 5n });
  await judge.call(ask.put, { key: 'k', lease: 5n, ignoreValue: true });
  await serverChosen(judge);
  await keepAliveStream(judge);
  await expiry(judge);
  await everything(judge);
}

/** All requests about one lease, which may be unknown. */
async function aboutLease(judge: Judge, request: Fields): Promise<void> {
  await judge.call(ask.leaseTimeToLive, request, { settle: ask.remaining(judge.stores) });
  await judge.call(ask.leaseTimeToLive, { ...request, keys: true }, { settle: ask.remaining(judge.stores) });
  await judge.call(ask.leaseRevoke, { ID: 99n });
  await judge.call(ask.leaseKeepAlive, { ID: 99n });
  await judge.call(ask.leaseLeases, {}, { settle: ask.leasesById });
}

/** Without an id in the request, each store chooses one. It must be positive and work like any other. */
async function serverChosen(judge: Judge): Promise<void> {
  const lease = await judge.grantUnnamed({ TTL: 700n });
  await judge.call(ask.put, { key: 'of the server', lease });
  await judge.call(ask.range, { key: 'of the server' });
  await aboutLease(judge, { ID: lease });
  await judge.call(ask.txn, {
    compare: [{ key: 'of the server', target: 4, result: 0, lease }],
    success: [{ requestRange: { key: 'of the server' } }],
  });
  await judge.call(ask.leaseRevoke, { ID: lease });
}

/** Each request gets one answer, in order. The stream ends when the client ends it. */
async function keepAliveStream(judge: Judge): Promise<void> {
  const [request, response] = ['etcdserverpb.LeaseKeepAliveRequest', 'etcdserverpb.LeaseKeepAliveResponse'];
  await judge.call(ask.leaseGrant, { ID: 11n, TTL: 100n });
  await judge.call(ask.leaseGrant, { ID: 12n, TTL: 200n });
  const pair = new StreamPair(judge, '/etcdserverpb.Lease/LeaseKeepAlive', request, response);
  const ids = [11n, 12n, 13n, 0n, -1n, 12n, 11n];
  for (const ID of ids) pair.send({ ID });
  await pair.until('all are kept alive', (store) => pair.messages(store).length >= ids.length);
  pair.halfClose();
  await pair.until('the end', (store) => pair.ended(store) !== undefined);
  judge.equal('keep-alives of one stream', [pair.messages(0), pair.ended(0)], [pair.messages(1), pair.ended(1)]);
}

/** The keys of a lease are deleted in one revision, in order. One lease at a time, so that the order is known. */
async function expiry(judge: Judge): Promise<void> {
  const watch = new StreamPair(
    judge,
    '/etcdserverpb.Watch/Watch',
    'etcdserverpb.WatchRequest',
    'etcdserverpb.WatchResponse',
  );
  watch.send({ createRequest: { key: 'ends/', rangeEnd: 'ends0', prevKv: true } });
  await watch.until('created', (store) => watch.messages(store).some(isCreated));
  await judge.call(ask.leaseGrant, { ID: 21n, TTL: 2n });
  for (const key of ['ends/c', 'ends/a', 'ends/b', 'ends/d'])
    await judge.call(ask.put, { key, value: key, lease: 21n });
  await judge.call(ask.put, { key: 'ends/d', value: 'stays' });
  const wanted = judge.revision + 1;
  await watch.until('the end of a lease', (store) =>
    watch.messages(store).some((one) => headerRevision(one) === wanted),
  );
  await aboutLease(judge, { ID: 21n });
  compareWatches(judge, watch);
  watch.close();
}

import { nodeItself, openReplica } from '@engram/backend';
import { encodeDeleteRecord, encodePutRecord, encodeRecord, type LogRecord } from '@engram/coder';
import { keyBytes, leaseId, NO_LEASE, revision } from '@engram/core';
import { SimCopy, Prng, quiet, SharedLog, SharedLogStorage, SimClock } from '@engram/sim';
import type { LogBatch } from '@engram/storage';
import { expect, test } from 'vitest';
import { inSlicesOf, openNode } from './harness.ts';
import { putOf, txnOf } from './ops.ts';

interface Change {
  readonly key?: string;
  readonly at: number;
  readonly lease?: bigint;
  readonly sub?: number;
  readonly created?: number;
}

const put = ({ key = 'new', at, lease = 0n, sub = 0, created = at }: Change): Uint8Array => {
  const value = keyBytes('v');
  const known = { createRevision: revision(created), modRevision: revision(at), version: 1, lease: leaseId(lease) };
  return encodePutRecord(sub, { key: keyBytes(key), value, ...known });
};
const deletion = (at: number, key = 'new'): Uint8Array => encodeDeleteRecord(0, keyBytes(key), revision(at));
const mark = (record: LogRecord): Uint8Array => encodeRecord(record);
const origin = mark({ kind: 'origin', memberId: 1n, sequence: 1 });
const grant = (id: bigint, ttlSeconds = 60): Uint8Array => mark({ kind: 'lease-grant', id: leaseId(id), ttlSeconds });

/** A follower that has taken a few writes and a grant of lease 7. Its revision is 4. */
async function follower(sliceSteps?: number) {
  const clock = new SimClock();
  const log = new SharedLog('log');
  const leader = await clock.run(openNode(new SharedLogStorage(log, new SimCopy()), { clock }));
  const fatal: Error[] = [];
  const { replica } = await clock.run(
    openReplica({
      storage: new SharedLogStorage(log, new SimCopy()),
      clock,
      random: new Prng(7),
      logger: quiet,
      memberId: 2n,
      ...(sliceSteps === undefined ? {} : inSlicesOf(sliceSteps, clock)),
      onFatal: (error) => fatal.push(error),
    }),
  );
  for (const key of ['a', 'b', 'c']) await clock.run(leader.backend.txn(txnOf(putOf(key, 'v')), nodeItself));
  await clock.run(leader.backend.leaseGrant(leaseId(7n), 60, nodeItself));
  const batches = log.batchesFrom(replica.next);
  const read = (batch: LogBatch) => clock.run(Promise.resolve(replica.read(batch)));
  const take = async (batch: LogBatch) => {
    const found = await read(batch);
    if (typeof found === 'string') return found;
    await clock.run(Promise.resolve(replica.follow(batch, found)));
    return undefined;
  };
  for (const batch of batches) expect(await take(batch)).toBeUndefined();
  const of = (...records: Uint8Array[]): LogBatch => ({ first: replica.next, records });
  return { clock, replica, fatal, read, take, of };
}

const cut = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, bytes.length - 1);

const refused: readonly { readonly what: string; readonly records: readonly Uint8Array[]; readonly fault: RegExp }[] = [
  { what: 'no record', records: [], fault: /^a batch without a record$/ },
  { what: 'an empty record', records: [new Uint8Array(0)], fault: /cut off/ },
  { what: 'a kind that only a later program knows', records: [Uint8Array.of(200, 1)], fault: /unknown kind 200/ },
  { what: 'a record that is cut off', records: [cut(put({ at: 5 }))], fault: /cannot decode/ },
  { what: 'a damaged record behind good ones', records: [put({ at: 5 }), cut(grant(9n))], fault: /record 6: cannot/ },
  { what: 'a KeyValue that is cut off', records: [Uint8Array.of(1, 0, 2, 0x0a, 9)], fault: /mvccpb.KeyValue/ },
  { what: 'a revision that was there', records: [put({ at: 4 })], fault: /revision 4 behind 4/ },
  { what: 'a gap in the revisions', records: [put({ at: 6 })], fault: /revision 6 behind 4/ },
  {
    what: 'a transaction that goes on behind a mark',
    records: [put({ at: 5 }), grant(9n), put({ at: 5, key: 'x' })],
    fault: /revision 5 behind 5/,
  },
  { what: 'a key twice in a transaction', records: [put({ at: 5 }), put({ at: 5, sub: 1 })], fault: /a second change/ },
  {
    what: 'a later key twice in a transaction',
    records: [put({ at: 5 }), put({ at: 5, key: 'x', sub: 1 }), put({ at: 5, key: 'x', sub: 2 })],
    fault: /a second change/,
  },
  { what: 'no key', records: [put({ at: 5, key: '' })], fault: /a change of no key/ },
  // A checkpoint holds the age of each version, and could not be taken any more.
  { what: 'a version before its key', records: [put({ at: 5, created: 6 })], fault: /older than its key/ },
  { what: 'a sub out of bounds', records: [put({ at: 5, sub: 2 ** 31 })], fault: /out of bounds/ },
  { what: 'a lease that there is not', records: [put({ at: 5, lease: 8n })], fault: /a key of lease 8/ },
  {
    what: 'a lease that the batch has revoked',
    records: [mark({ kind: 'lease-revoke', id: leaseId(7n) }), put({ at: 5, lease: 7n })],
    fault: /record 6: a key of lease 7/,
  },
  { what: 'a lease without an id', records: [grant(NO_LEASE)], fault: /a lease without an id/ },
  { what: 'a TTL out of bounds', records: [grant(9n, 9_000_000_001)], fault: /a TTL out of bounds/ },
  {
    what: 'a compaction of the future',
    records: [mark({ kind: 'compact', revision: revision(5) })],
    fault: /a compaction/,
  },
  { what: 'an origin first', records: [origin], fault: /the origin of no write/ },
  { what: 'two origins', records: [put({ at: 5 }), origin, origin], fault: /record 7: the origin of no write/ },
];

test.each(refused)('a batch with $what is refused whole, and the next one is taken', async ({ records, fault }) => {
  const { replica, fatal, take, of, clock } = await follower();
  const next = replica.next;
  expect(await take(of(...records))).toMatch(fault);
  await clock.run(replica.whenApplied());
  expect([replica.next, replica.revision, replica.state.index.liveKeys]).toEqual([next, 4, 3]);
  const good = of(
    grant(9n),
    put({ at: 5, lease: 9n }),
    origin,
    deletion(6),
    mark({ kind: 'compact', revision: revision(6) }),
  );
  expect(await take(good)).toBeUndefined();
  await clock.run(replica.whenApplied());
  expect([replica.revision, replica.state.index.liveKeys]).toEqual([6, 3]);
  expect(fatal).toEqual([]);
});

test('a batch of very many records gives way while it is checked', async () => {
  const { replica, fatal, of, clock } = await follower(100);
  const long = of(...Array.from({ length: 1000 }, (_, at) => put({ at: 5 + at, key: `k${at}` })));
  const before = replica.loop.usage.get('durable')!.slices;
  const reading = Promise.resolve(replica.read(long));
  const read = await clock.run(reading);
  expect(replica.loop.usage.get('durable')!.slices - before).toBeGreaterThanOrEqual(9);
  if (typeof read === 'string') expect.fail(read);
  await clock.run(Promise.resolve(replica.follow(long, read)));
  await clock.run(replica.whenApplied());
  expect(replica.revision).toBe(1004);
  expect(fatal).toEqual([]);
});

test('a batch is read by what the batches before it will have done, although they have not taken effect', async () => {
  const { replica, fatal, take, of, clock } = await follower();
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  // As a write does that is answered in slices.
  replica.apply([], (replica.next + 1) as typeof replica.next, 0, { applied: () => undefined, published: () => held });
  expect(await take(of(grant(9n), put({ at: 5, lease: 9n })))).toBeUndefined();
  expect(replica.revision).toBe(4);
  expect(await take(of(put({ at: 6, key: 'x', lease: 9n })))).toBeUndefined();
  expect(
    await take(of(mark({ kind: 'lease-revoke', id: leaseId(9n) }), deletion(7), deletion(7, 'x'))),
  ).toBeUndefined();
  expect(await take(of(put({ at: 8, lease: 9n })))).toMatch(/a key of lease 9/);
  expect(replica.revision).toBe(4);
  // A batch that was not read before, as those from the log: the next one is read when it has taken effect.
  await clock.run(Promise.resolve(replica.follow(of(put({ at: 8, key: 'log' })))));
  const reading = take(of(put({ at: 9, key: 'x' })));
  release();
  expect(await reading).toBeUndefined();
  await clock.run(replica.whenApplied());
  expect(replica.revision).toBe(9);
  expect(fatal).toEqual([]);
});

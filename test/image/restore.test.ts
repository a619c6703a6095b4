import { nodeItself, openBackend, recoverReplica } from '@engram/backend';
import { EMPTY_BYTES, epoch, keyBytes, leaseId, type Op, putOp, revision } from '@engram/core';
import { Loop } from '@engram/loop';
import { Prng, quiet, realClock } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { restoreIntoPrefix } from '@engram/storage-tikv';
import { expect, test } from 'vitest';
import { dump, ImageWorld } from './node.ts';

// A store of a node that is alone, in a prefix of TiKV: every node of the cluster has the same.

const LEASE = leaseId(0x77n);
const parts = { clock: realClock, random: new Prng(1), logger: quiet };
const fail = (error: Error): never => {
  throw error;
};

const txnOf = (...success: Op[]) => ({ compares: [], success, failure: [] });
const put = (key: string, value: string, lease = 0n): Op =>
  putOp(keyBytes(key), keyBytes(value), { lease: leaseId(lease) });

test('all nodes that start on a restored prefix have the store, and go on from it', async () => {
  const storage = new MemoryStorage();
  const alone = await openBackend({ storage, ...parts, epoch: epoch(1), memberId: 7n, onFatal: fail });
  await alone.leaseGrant(LEASE, 600, nodeItself);
  for (let at = 0; at < 300; at += 1) await alone.txn(txnOf(put(`key-${at % 40}`, 'v'.repeat(at))), nodeItself);
  await alone.txn(txnOf(put('leased', 'x', LEASE), put('beside', 'y')), nodeItself);
  const deletion: Op = { kind: 'delete-range', range: { key: keyBytes('key-7'), end: EMPTY_BYTES }, prevKv: false };
  await alone.txn(txnOf(deletion), nodeItself);
  await alone.compact(revision(150), true, nodeItself);
  await alone.replica.whenApplied();
  const wanted = await dump({ store: alone });

  await using world = await ImageWorld.make();
  const client = await world.client();
  const copy = await recoverReplica({ storage, ...parts, onFatal: fail });
  const { signal } = nodeItself;
  await restoreIntoPrefix(
    {
      client,
      keys: world.keys,
      discardUnfinished: false,
      cluster: { clusterId: 77n, foundingId: 5n, members: [] },
      loop: new Loop({ clock: realClock }),
      ...parts,
      signal,
      timeoutMs: 5_000,
    },
    copy.sharedImage({ pageBytes: 500, pace: async () => {}, signal }),
  );
  await client.close(0);

  for (const disk of [undefined, 'a', 'a']) {
    await using node = await world.open(2n, disk);
    expect(await dump(node)).toEqual(wanted);
  }
  await using leader = await world.open(1n, 'b', epoch(1));
  expect(await dump(leader)).toEqual(wanted);
  const { revision: next } = await leader.store.txn(txnOf(put('key-1', 'more')), nodeItself);
  expect(next).toBe(alone.revision + 1);
  await leader.store.replica.whenApplied();
  await using follower = await world.open(2n, 'a');
  expect(await dump(follower)).toEqual(await dump(leader));
});

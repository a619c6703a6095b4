import { EngramError, keyBytes, type LeaseId, leaseId, type Op, putOp } from '@engram/core';
import { nodeItself } from '@engram/backend';
import { Prng } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { restored } from './databases.ts';
import { eventsFrom, keysAt, leasesOf, type Node, openNode, snapshot } from './nodes.ts';

const SEED = Number(process.env['SEED'] ?? 20_261_126);
const RUNS = Number(process.env['RUNS'] ?? 12);

/** Few keys, so that changes meet on them; some are prefixes of others. */
const keys = ['a', 'a\x00', 'a\xff', 'b', 'ba', 'k/1', 'k/2', '\x00', '\xff\xff'];
const leaseIds = [1n, -5n, 2n ** 63n - 1n].map(leaseId);

/** Writes, deletes, grants, revokes and compactions, some of which are refused; at the end alarms. */
async function history({ backend, clock }: Node, prng: Prng, steps: number): Promise<void> {
  const someKey = (): Uint8Array => keyBytes(prng.pick(keys));
  const someLease = (): LeaseId => (prng.chance(0.6) ? leaseId(0n) : prng.pick(leaseIds));
  const some = (): Op => {
    const key = someKey();
    if (prng.chance(0.6)) return { ...putOp(key, keyBytes('v'.repeat(prng.below(50)))), lease: someLease() };
    const end = prng.chance(0.3) ? Uint8Array.of(0) : new Uint8Array(0);
    return { kind: 'delete-range', range: { key, end }, prevKv: false };
  };
  const write = async (success: readonly Op[]): Promise<unknown> =>
    backend.txn({ compares: [], success, failure: [] }, nodeItself);
  const step = async (): Promise<unknown> => {
    const kind = prng.below(100);
    if (kind < 60) return write([some()]);
    if (kind < 75)
      return write(
        [...new Set(Array.from({ length: 4 }, () => prng.pick(keys)))].map((key) =>
          putOp(keyBytes(key), keyBytes('t')),
        ),
      );
    if (kind < 85) return backend.leaseGrant(prng.pick(leaseIds), 60 + prng.below(1000), nodeItself);
    if (kind < 90) return backend.leaseRevoke(prng.pick(leaseIds), nodeItself);
    return backend.compact(backend.revision - prng.below(30), prng.chance(0.5), nodeItself);
  };
  // An alarm refuses writes, so it is raised at the end.
  for (const alarm of backend.alarms()) await backend.deactivateAlarm(alarm, nodeItself);
  for (let at = 0; at < steps; at += 1) {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof EngramError)) throw error;
    }
    if (prng.chance(0.05)) await clock.settle(20);
  }
  for (const alarm of [1, 2]) {
    if (prng.chance(0.3)) await backend.activateAlarm({ memberId: BigInt(1 + prng.below(3)), alarm }, nodeItself);
  }
}

/** Everything that a client can read. */
async function picture(node: Node): Promise<unknown> {
  const { revision, compactRevision } = node.backend;
  const from = Math.max(1, compactRevision);
  const revisions = Array.from({ length: revision - from + 1 }, (_, at) => from + at);
  const ranges: (readonly string[])[] = [];
  for (const at of revisions) ranges.push(await keysAt(node, at));
  const events: (readonly string[])[] = [];
  for (const at of new Set([from, from + 1, Math.floor((from + revision) / 2), revision])) {
    if (at <= revision) events.push(await eventsFrom(node, at));
  }
  return {
    revision,
    compactRevision,
    ranges,
    events,
    below: await keysAt(node, compactRevision - 1),
    leases: await leasesOf(node),
    alarms: node.backend
      .alarms()
      .map(({ memberId, alarm }) => `${memberId}: ${alarm}`)
      .toSorted(),
    hash: await node.backend.hashKv(0, new AbortController().signal),
  };
}

for (let run = 0; run < RUNS; run += 1) {
  const seed = SEED + run;
  test(`a store that is restored from its snapshot is the same store, and goes on alike (SEED=${seed})`, async () => {
    const prng = new Prng(seed);
    await using source = await openNode(new MemoryStorage());
    await history(source, prng, 50 + prng.below(250));
    const { storage, report } = await restored(await snapshot(source));
    await using copy = await openNode(storage);
    const before = await picture(source);
    expect(await picture(copy)).toEqual(before);
    expect(report).toMatchObject({
      revision: source.backend.revision,
      compactRevision: source.backend.compactRevision,
      keys: source.backend.status().keys,
      keysWithoutLease: 0,
    });
    const more = prng.below(2 ** 31);
    await history(source, new Prng(more), 60);
    await history(copy, new Prng(more), 60);
    const after = await picture(source);
    expect(await picture(copy)).toEqual(after);

    // The log and the checkpoint alone are that store, too.
    await copy.backend[Symbol.asyncDispose]();
    await using again = await openNode(storage.reopen());
    expect(await picture(again)).toEqual(after);
    // A snapshot of the copy says what one of the source says.
    const second = await restored(await snapshot(again));
    const first = await restored(await snapshot(source));
    expect({ ...second.report, hash: '' }).toEqual({ ...first.report, hash: '' });
  });
}

test('a revision that is raised counts all before it as compacted, and the newest keys are the same', async () => {
  await using source = await openNode(new MemoryStorage());
  await history(source, new Prng(SEED), 300);
  const { storage, report } = await restored(await snapshot(source), { bumpRevision: 1_000_000_000 });
  await using copy = await openNode(storage);
  const raised = source.backend.revision + 1_000_000_000;
  expect(report).toMatchObject({ revision: raised, compactRevision: raised });
  expect([copy.backend.revision, copy.backend.compactRevision]).toEqual([raised, raised]);
  expect(await keysAt(copy, 0)).toEqual(await keysAt(source, 0));
  expect(await keysAt(copy, raised - 1)).toEqual([
    'EngramError: etcdserver: mvcc: required revision has been compacted',
  ]);
  expect(await leasesOf(copy)).toEqual(await leasesOf(source));
  expect(report.versions).toBe(report.keys);
  // What nothing needs is gone from storage with the start.
  await copy.clock.settle(100);
  for (const raisedAlarm of copy.backend.alarms()) await copy.backend.deactivateAlarm(raisedAlarm, nodeItself);
  const result = await copy.backend.txn(
    { compares: [], success: [putOp(keyBytes('new'), keyBytes('1'))], failure: [] },
    nodeItself,
  );
  expect(result.revision).toBe(raised + 1);
});

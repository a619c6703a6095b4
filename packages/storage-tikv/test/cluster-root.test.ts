import { StorageOpenError } from '@engram/storage';
import { type ClusterFounding, type ClusterRoot, openRoot } from '@engram/storage-tikv';
import type { TikvClient } from '@engram/tikv-client';
import { beforeEach, expect, test, vi } from 'vitest';
import { batchOf, first, SimBed } from './sim-bed.ts';

let bed: SimBed;
let client: TikvClient;
beforeEach(async () => {
  bed = new SimBed();
  client = await bed.client();
});

const rootOf = (clusterId: bigint): ClusterRoot => ({
  clusterId,
  members: [{ id: clusterId + 1n, name: `node of ${clusterId}`, peerUrls: ['http://127.0.0.1:2380'] }],
  firstRevision: 1,
});

const open = (more: { found?: ClusterFounding; clusterId?: bigint; timeoutMs?: number } = {}): Promise<ClusterRoot> =>
  bed.run(openRoot({ client, keys: bed.keys, timeoutMs: 5_000, ...more }));

async function reasonOf(opening: Promise<unknown>): Promise<string> {
  const error: unknown = await opening.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StorageOpenError)) throw new Error('it did not fail as it should', { cause: error });
  return `${error.reason}: ${error.message}`;
}

async function textOfRoot(): Promise<unknown> {
  const txn = await bed.run(client.begin());
  return JSON.parse(Buffer.from((await bed.run(txn.get(bed.keys.root)))!).toString());
}

async function put(key: Uint8Array, value: string): Promise<void> {
  const txn = await bed.run(client.begin());
  txn.put(key, Buffer.from(value));
  await bed.run(txn.commit());
}

test('who comes first founds the cluster, and all others get what that one wrote', async () => {
  expect(await open({ found: rootOf(5n) })).toEqual(rootOf(5n));
  expect(await open({ found: rootOf(6n) })).toEqual(rootOf(5n));
  expect(await open()).toEqual(rootOf(5n));
  expect(await open({ clusterId: 5n })).toEqual(rootOf(5n));
});

test('a cluster keeps the number that was drawn when it was founded; a root without one stays as it is', async () => {
  const drawn = { ...rootOf(5n), foundingId: 0x1234_5678_9abc_def0n };
  expect(await open({ found: drawn })).toEqual(drawn);
  expect(await open({ found: { ...rootOf(5n), foundingId: 7n } })).toEqual(drawn);
  expect(await textOfRoot()).toMatchObject({ format: 1, foundingId: '123456789abcdef0' });
  bed = new SimBed();
  client = await bed.client();
  await open({ found: rootOf(5n) });
  expect(await open({ found: drawn })).not.toHaveProperty('foundingId');
});

test.each([0, '0', 'x', 7, null])('a founding of %j is damage', async (foundingId) => {
  const value = { magic: 'engram cluster', format: 1, clusterId: '5', members: [], foundingId };
  await put(bed.keys.root, JSON.stringify(value));
  expect(await reasonOf(open())).toMatch(/^not-ours: .* is damaged/);
});

test('revisions may begin at the time of PD, once and for all; programs that would begin at 1 refuse the prefix', async () => {
  const members = rootOf(5n).members;
  const beforeUs = Math.floor(bed.clock.wallMs()) * 1000;
  const root = await open({ found: { clusterId: 5n, members, revisionOrigin: 'timestamp' } });
  expect(root.firstRevision).toBeGreaterThanOrEqual(beforeUs);
  expect(root.firstRevision).toBeLessThanOrEqual(Math.floor(bed.clock.wallMs()) * 1000);
  expect(await open({ found: { clusterId: 6n, members, revisionOrigin: 'timestamp' } })).toEqual(root);
  expect(await open({ found: { clusterId: 5n, members } })).toEqual(root);
  expect(await textOfRoot()).toMatchObject({ format: 2, firstRevision: root.firstRevision });
});

test('a cluster whose revisions begin at 1 is served by programs that know no other origin', async () => {
  await open({ found: { ...rootOf(5n), revisionOrigin: 'sequence' } });
  const text = await textOfRoot();
  expect(text).toMatchObject({ format: 1 });
  expect(text).not.toHaveProperty('firstRevision');
});

test.each([0, -1, 1.5, '7', 2 ** 53])('a first revision of %j is damage', async (firstRevision) => {
  await put(
    bed.keys.root,
    JSON.stringify({ magic: 'engram cluster', format: 2, clusterId: '5', members: [], firstRevision }),
  );
  expect(await reasonOf(open())).toMatch(/^not-ours: .* is damaged/);
});

test('of many that start at a time one founds it, also where answers are lost', async () => {
  bed.next('Prewrite', bed.keys.root, { kind: 'lose' });
  const clients = [client, await bed.client(), await bed.client()];
  const roots = await bed.run(
    Promise.all(
      clients.map((each, index) =>
        openRoot({ client: each, keys: bed.keys, found: rootOf(BigInt(10 + index)), timeoutMs: 5_000 }),
      ),
    ),
  );
  expect(new Set(roots.map(({ clusterId }) => clusterId)).size).toBe(1);
  expect(bed.cluster.mvcc.row(bed.keys.root).writes.filter(({ kind }) => kind === 'put')).toHaveLength(1);
});

test('a root that only the scan sees, because it is being written, is a cluster and no foreign key', async () => {
  await open({ found: rootOf(5n) });
  const begin = client.begin.bind(client);
  vi.spyOn(client, 'begin').mockImplementationOnce(async (options) => {
    const txn = await begin(options);
    vi.spyOn(txn, 'get').mockResolvedValue(undefined);
    return txn;
  });
  expect(await open({ found: rootOf(6n) })).toEqual(rootOf(5n));
});

test('a cluster that differs from the expected is refused, with both ids', async () => {
  await open({ found: rootOf(0x5n) });
  expect(await reasonOf(open({ clusterId: 0xan }))).toMatch(/^other-cluster: .*"test".* cluster 5, not to a$/);
});

test('nothing there, and nothing to found', async () => {
  expect(await reasonOf(open())).toMatch(/^missing: .*"test"/);
});

test.each([
  { value: 'something else', reason: 'not-ours' },
  { value: '{"magic":"engram cluster","format":4}', reason: 'newer-format' },
  { value: '{"magic":"engram cluster","format":1,"clusterId":"xyz","members":[]}', reason: 'not-ours' },
  { value: '{"magic":"engram cluster","format":1,"clusterId":"5","members":[{"id":"1"}]}', reason: 'not-ours' },
  { value: '[]', reason: 'not-ours' },
])('$value is $reason, and stays as it is', async ({ value, reason }) => {
  await put(bed.keys.root, value);
  expect(await reasonOf(open({ found: rootOf(5n) }))).toContain(`${reason}: `);
  expect(Buffer.from((await bed.run(client.get(bed.keys.root)))!).toString()).toBe(value);
});

test('keys without a word of whose they are are not ours', async () => {
  await put(bed.keys.slot(1, 1), 'x');
  expect(await reasonOf(open({ found: rootOf(5n) }))).toContain('not-ours: ');
});

test('PD or stores that do not answer are not accessible, in time', async () => {
  for (const id of bed.cluster.stores.keys()) bed.cluster.kill(bed.cluster.addressOf(id));
  expect(await reasonOf(open({ found: rootOf(5n), timeoutMs: 2_000 }))).toContain('not-accessible: ');
  expect(bed.clock.nowMs()).toBeLessThan(10_000);
});

test('clusters on one TiKV do not see each other', async () => {
  const one = await bed.openSealed();
  await bed.append(one, batchOf(1, 3));
  const two = await bed.open({ prefix: 'test/l' });
  expect(await bed.run(two.log.seal(first))).toBe(1);
  await bed.append(two, batchOf(1));
  expect(await bed.read(one)).toEqual([1, 2, 3]);
  expect(await bed.read(two)).toEqual([1]);
});

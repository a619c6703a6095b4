import { StorageOpenError } from '@engram/storage';
import { type ClusterRoot, endFollowing, type FollowedRootOptions, newestRoot, openRoot } from '@engram/storage-tikv';
import type { TikvClient } from '@engram/tikv-client';
import type { CommandName, Fault } from '@engram/tikv-client/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { encodeRestoreMark } from '../src/format/restore-mark.ts';
import { SimBed } from './sim-bed.ts';

const root: ClusterRoot = {
  clusterId: 7n,
  members: [{ id: 8n, name: 'a', peerUrls: ['http://127.0.0.1:2380'] }],
  firstRevision: 1,
  foundingId: 0xf00dn,
};
const follows = { clusterId: 0xe7cdn, from: ['10.0.0.1:2379', '10.0.0.2:2379'] };

let bed: SimBed;
let client: TikvClient;
beforeEach(async () => {
  bed = new SimBed();
  client = await bed.client();
});

const at = (of = client, signal = new AbortController().signal): FollowedRootOptions => ({
  client: of,
  keys: bed.keys,
  signal,
  timeoutMs: 5_000,
});
const found = (more: Partial<ClusterRoot> = {}): Promise<ClusterRoot> =>
  bed.run(openRoot({ client, keys: bed.keys, timeoutMs: 5_000, found: { ...root, follows, ...more } }));

async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await bed.run(work).then(
    () => 'done',
    (reason: unknown) => reason,
  );
  return error instanceof StorageOpenError ? error.reason : String(error);
}

async function textOfRoot(): Promise<Record<string, unknown>> {
  return JSON.parse(Buffer.from((await bed.run(client.get(bed.keys.root)))!).toString());
}

async function put(value: Uint8Array | string): Promise<void> {
  const txn = await bed.run(client.begin());
  txn.put(bed.keys.root, Buffer.from(value));
  await bed.run(txn.commit());
}

test('a cluster that follows an etcd has a format that older programs refuse, until that ends for good', async () => {
  expect(await found()).toEqual({ ...root, follows });
  expect(await bed.run(newestRoot(at()))).toEqual({ ...root, follows });
  expect(await textOfRoot()).toMatchObject({ format: 3, follows: { clusterId: 'e7cd', from: follows.from } });
  await bed.run(endFollowing(at(), root.foundingId));
  expect(await bed.run(newestRoot(at()))).toEqual(root);
  expect(await textOfRoot()).toMatchObject({ format: 1 });
  expect(await found()).toEqual(root);
  await bed.run(endFollowing(at(), root.foundingId));
  expect(await bed.run(newestRoot(at()))).toEqual(root);
});

test('a prefix that holds no root, or the mark of a restore, is told apart', async () => {
  expect(await bed.run(newestRoot(at()))).toBe('missing');
  expect(await reasonOf(endFollowing(at(), 1n))).toBe('missing');
  await put(encodeRestoreMark(5n));
  expect(await bed.run(newestRoot(at()))).toBe('unfinished');
});

test.each([
  '{"magic":"engram cluster","format":3,"clusterId":"5","members":[]}',
  '{"magic":"engram cluster","format":3,"clusterId":"5","members":[],"follows":{"from":["a:1"]}}',
  '{"magic":"engram cluster","format":1,"clusterId":"5","members":[],"follows":true}',
])('a root that does not tell what it follows is no permission to write: %s', async (text) => {
  await put(text);
  expect(await reasonOf(newestRoot(at()))).toBe('not-ours');
  expect(await reasonOf(endFollowing(at(), undefined))).toBe('not-ours');
});

test('the root of another cluster stays as it is', async () => {
  await found();
  expect(await reasonOf(endFollowing(at(), 0xbadn))).toBe('other-cluster');
  expect(await bed.run(newestRoot(at()))).toEqual({ ...root, follows });
});

test('the end is seen by whoever looks after it, also if timestamps of PD go back', async () => {
  await found();
  await bed.run(endFollowing(at(), root.foundingId));
  bed.cluster.pd.goBack(600_000);
  expect(await bed.run(newestRoot(at(await bed.client())))).toEqual(root);
});

const commands = new Set<CommandName>(['Prewrite', 'Commit', 'Get']);
const atStep = (step: number, fault: () => Fault): (() => number) => bed.atStep(commands, step, fault);

const STEPS = 2;
const steps = Array.from({ length: STEPS }, (_, index) => index + 1);

test('these are all the steps of an end', async () => {
  await found();
  const count = atStep(0, () => ({ kind: 'lose' }));
  await bed.run(endFollowing(at(), root.foundingId));
  expect(count()).toBe(STEPS);
});

describe.each([true, false])('an end that is killed (its last request is executed: %s)', (executed) => {
  test.each(steps)('at step %i leaves a root that follows, or one that does not', async (step) => {
    await found();
    const gone = new AbortController();
    atStep(step, () => {
      bed.clock.soon(() => gone.abort(new Error('gone')));
      return { kind: 'silence', executed };
    });
    await expect(bed.run(endFollowing(at(client, gone.signal), root.foundingId))).rejects.toThrow('gone');
    const other = await bed.client();
    expect([root, { ...root, follows }]).toContainEqual(await bed.run(newestRoot(at(other))));
    await bed.run(endFollowing(at(other), root.foundingId));
    expect(await bed.run(newestRoot(at(other)))).toEqual(root);
  });
});

test.each(steps)('an end whose answer to request %i is lost has taken effect', async (step) => {
  await found();
  atStep(step, () => ({ kind: 'lose' }));
  await bed.run(endFollowing(at(), root.foundingId));
  expect(await bed.run(newestRoot(at()))).toEqual(root);
});

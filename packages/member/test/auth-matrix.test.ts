import {
  AuthClient,
  fakeAuth,
  observing,
  prepareCallers,
  runLockMatrix,
  runMatrix,
  runObserveMatrix,
  runStreamMatrix,
  streaming,
} from '@engram/etcd-api/testing';
import type { ClusterMember } from '@engram/member';
import { Prng } from '@engram/sim';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestCluster } from './cluster.ts';

/* The matrix of authorization in a cluster: what a follower answers by itself, and what it passes on. */

const TOKEN_MS = 60_000;

let cluster: TestCluster;
let leader: ClusterMember;
let follower: ClusterMember;
let callers: Awaited<ReturnType<typeof prepareCallers>>;
const run = <Value>(work: Promise<Value>): Promise<Value> => cluster.run(work);

beforeEach(async () => {
  const tokens = { kind: 'simple', ttlMs: TOKEN_MS } as const;
  cluster = await TestCluster.start([1n, 2n, 3n], (id) =>
    fakeAuth({ random: new Prng(Number(id)), tokens, clientCertAuth: true }),
  );
  leader = await cluster.leader();
  follower = cluster.running.find((member) => member !== leader)!;
  callers = await prepareCallers({
    methods: follower.member.methods,
    run,
    endTokens: () => cluster.pass(TOKEN_MS + 1),
  });
});
afterEach(() => expect(cluster.fatal).toEqual([]));

const state = async (): Promise<string> => {
  const { store } = leader.member;
  return `${store.revision} ${store.auth.state.revision} ${store.status().logPosition} ${store.alarms().length}`;
};

describe.each([
  ['a follower', () => follower],
  ['the leader', () => leader],
])('at %s', (_, at) => {
  test('every call, by every kind of caller, is refused or permitted as etcd does it', async () => {
    const clients = callers.at(at().member.methods);
    const { wrong, calls } = await runMatrix({ clients, run, state });
    expect(wrong).toEqual([]);
    expect(calls).toBeGreaterThan(1_000);
    expect(cluster.running).toHaveLength(3);
  });

  test('so is every stream, and one that is refused sends nothing', async () => {
    const clients = callers.at(at().member.methods);
    const { wrong, calls } = await runStreamMatrix({ clients, ask: streaming(clients, () => cluster.pass(300)) });
    expect(wrong).toEqual([]);
    expect(calls).toBeGreaterThan(100);
  });

  test('so is every call of Lock and Election, and Observe shows nothing to whom it may not', async () => {
    const clients = callers.at(at().member.methods);
    const { wrong, calls } = await runLockMatrix({ clients, run, state });
    expect(wrong).toEqual([]);
    expect(calls).toBeGreaterThan(150);
    const observed = await runObserveMatrix({ clients, run, observe: observing(clients, () => cluster.pass(300)) });
    expect(observed.wrong).toEqual([]);
    expect(observed.calls).toBeGreaterThan(20);
  });
});

test('a follower that does not know yet that users count answers nothing that they may not read', async () => {
  const anybody = new AuthClient(leader.member.methods);
  const root = callers.root(leader.member.methods);
  await run(root.disable());
  const id = follower.member.cluster.memberId;
  // What the leader has decided does not arrive at the follower, but what it asks does.
  cluster.holdFeed(id);
  await run(anybody.enable());
  const asking = new AuthClient(follower.member.methods);
  const reads = [
    asking.get('k'),
    asking.txn({ success: [{ requestRange: { key: Buffer.from('k') } }] }),
    asking.range({ key: Buffer.from('a'), rangeEnd: Buffer.from('z') }),
  ].map((read) =>
    read.then(
      () => 'ok',
      (error: Error) => error.message,
    ),
  );
  await cluster.pass(50);
  cluster.releaseFeed(id);
  expect(await run(Promise.all(reads))).toEqual(Array(3).fill('etcdserver: user name is empty'));
});

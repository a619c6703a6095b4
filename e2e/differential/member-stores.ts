import { nodeItself } from '@engram/backend';
import { FakeCall } from '@engram/etcd-api/testing';
import { TestCluster } from '@engram/member/testing';
import { Loop, StepPace } from '@engram/loop';
import type { Prng } from '@engram/sim';
import { gatherMessage, statusOf } from '@engram/wire';
import { type Reply, STORES, Stores } from './stores.ts';

/** Large, so that no other number of an answer is taken for them. */
const CLUSTER = 0x6d31_0000_0000n;
const ASKED = [0x6d31_0000_0001n, 0x6d31_0000_0002n] as const;
/** It is never asked, and leads at times. It allows less than the others. */
const ODD = 0x6d31_0000_0003n;
const MOVE_EVERY = 40;

/** etcd, and three members of one cluster in this process. Each request goes to one of two of them, at random. */
export class MemberStores extends Stores {
  readonly #prng: Prng;
  #cluster: TestCluster | undefined;
  readonly #faults: string[] = [];
  #calls = 0;
  /** When the members' clock showed 0. */
  #beginMs = 0;

  constructor(etcd: string, folder: string, flags: readonly string[], prng: Prng) {
    super(etcd, folder, flags);
    this.#prng = prng;
  }

  override async startEmpty(): Promise<void> {
    await super.startEmpty();
    await this.#endCluster();
    const cluster = new TestCluster([...ASKED, ODD]);
    cluster.clusterId = CLUSTER;
    // A step of the cluster's clock passes in each turn: a transaction over all keys, 64 of them in a turn, takes ten seconds.
    cluster.settings = { ...cluster.settings, requestTimeoutMs: 60_000 };
    await cluster.start(ASKED[0]);
    const inSlices = () => ({ loop: new Loop({ clock: cluster.clock, pace: new StepPace(64) }) });
    cluster.settings = { ...cluster.settings, cacheBytesMax: 50_000, sharingChangesMax: 64, ...inSlices() };
    await cluster.start(ASKED[1]);
    cluster.limits = { maxTxnOps: 3, maxRequestBytes: 2_000, streamQueueBytesMax: 10_000 };
    cluster.settings = { ...cluster.settings, quotaBytes: 2 ** 30, requestTimeoutMs: 50_000, ...inSlices() };
    await cluster.start(ODD);
    await cluster.leader();
    this.#cluster = cluster;
    this.#beginMs = Date.now() - cluster.clock.nowMs();
  }

  override memberIds(store: number): readonly bigint[] {
    return store === 0 ? [] : [...ASKED, ODD];
  }

  override async call(
    store: number,
    path: string,
    request: Uint8Array,
    metadata: Readonly<Record<string, string>>,
  ): Promise<Reply> {
    const cluster = this.#cluster;
    if (store === 0 || cluster === undefined) return super.call(store, path, request, metadata);
    this.#calls += 1;
    // Leases of both stores end at the same time.
    await cluster.pass(Date.now() - this.#beginMs - cluster.clock.nowMs());
    if (this.#calls % MOVE_EVERY === 0) await this.#moveLeader(cluster);
    await this.#caughtUp(cluster);
    const asked = cluster.member(this.#prng.pick(ASKED)).member;
    const method = asked.methods.get(`/${path}`);
    if (method === undefined) throw new Error(`${STORES[store]} has no ${path}`);
    if (method.kind === 'unary') {
      const answering = async (): Promise<Uint8Array> =>
        gatherMessage(await method.handle(Uint8Array.from(request), new FakeCall(metadata)));
      return cluster.run(answering().then(replyOf, failureOf));
    }
    let call: FakeCall;
    try {
      if (method.kind === 'server-stream') call = FakeCall.serverStream(method, Uint8Array.from(request), metadata);
      else {
        call = FakeCall.bidi(method, metadata);
        call.request(request);
        call.halfClose();
      }
    } catch (error) {
      return failureOf(error);
    }
    for (let step = 0; call.status === undefined && step < 3000; step += 1) await cluster.pass(10);
    const { code, message: details } = call.status ?? { code: -1, message: 'it takes for ever' };
    return { messages: call.sent, code, details };
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#endCluster();
    await super[Symbol.asyncDispose]();
  }

  /** What has ended a member so far, and what the members still hold, each with its place. */
  faults(): readonly string[] {
    const fatal = (this.#cluster?.fatal ?? []).map((error) => `a member has ended: ${String(error)}`);
    const held = (this.#cluster?.running ?? []).flatMap(({ member: { cluster, stats } }) => {
      const { pins, imagesBytes } = stats;
      return pins + imagesBytes === 0 ? [] : [`${cluster.memberId} holds ${pins} pins, ${imagesBytes} bytes`];
    });
    return [...this.#faults, ...fatal, ...held];
  }

  async #endCluster(): Promise<void> {
    const cluster = this.#cluster;
    if (cluster === undefined) return;
    this.#faults.splice(0, this.#faults.length, ...this.faults());
    this.#cluster = undefined;
    for (const id of [...ASKED, ODD]) await cluster.stop(id);
  }

  async #moveLeader(cluster: TestCluster): Promise<void> {
    const leader = await cluster.leader();
    const others = cluster.running.filter((each) => each !== leader);
    const { memberId } = this.#prng.pick(others).member.cluster;
    await cluster.run(leader.member.cluster.changes.moveLeader(memberId, nodeItself));
    await cluster.leader();
  }

  /** What a member answers by itself may lag behind the others. */
  async #caughtUp(cluster: TestCluster): Promise<void> {
    const leader = await cluster.leader();
    const { next } = leader.member.stats;
    while (cluster.running.some(({ member }) => member.stats.applied < next)) await cluster.pass(10);
  }
}

const replyOf = (message: Uint8Array): Reply => ({ messages: [message], code: 0, details: '' });

function failureOf(error: unknown): Reply {
  const { code, message } = statusOf(error);
  return { messages: [], code, details: message };
}

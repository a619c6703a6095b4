import { type Backend, type Caller, nodeItself, openReplica } from '@engram/backend';
import { EngramError, epoch } from '@engram/core';
import { RecordingTracer } from '@engram/core/testing';
import { SimCopy, Prng, quiet, SharedLog, SharedLogStorage, SimClock } from '@engram/sim';
import { expect } from 'vitest';
import { AppliedPositions } from '../src/applied-positions.ts';
import { CommittedFeed, FeedingLog } from '../src/committed-feed.ts';
import { Follower } from '../src/follower.ts';
import { KnownLeader } from '../src/known-leader.ts';
import { LeaderCalls } from '../src/leader-calls.ts';
import { PeerError, type Peers } from '../src/peers.ts';
import { RemoteLeader } from '../src/remote-leader.ts';

export const TIMEOUT_MS = 7000;

/** What happens to a call on its way. */
export type Way = 'arrives' | 'unsent' | 'lost-before' | 'lost-after' | 'late' | 'silent-before' | 'silent-after';

export class TestMember {
  readonly id: bigint;
  readonly backend: Backend;
  readonly feed: CommittedFeed;
  readonly known: KnownLeader;
  readonly calls: LeaderCalls;
  readonly remote: RemoteLeader;
  readonly follower: Follower;
  readonly fatal: Error[];

  constructor(id: bigint, group: Group, backend: Backend, feed: CommittedFeed, known: KnownLeader, fatal: Error[]) {
    const { clock } = group;
    const { replica } = backend;
    this.id = id;
    this.backend = backend;
    this.feed = feed;
    this.known = known;
    this.fatal = fatal;
    const applied = new AppliedPositions(replica, clock);
    replica.onApplied = () => applied.advanced();
    const peers = group.peersOf(id);
    this.calls = new LeaderCalls({
      backend,
      clock,
      logger: quiet,
      confirm: async () => {
        if (group.stops) throw new EngramError('Stopped');
        if (backend.leadership === undefined) throw new EngramError('NotLeader');
      },
      commitIndex: () => 0,
      changeMembers: async () => [],
      tracer: group.tracer,
      hashKv: () => expect.unreachable(),
    });
    const shared = {
      memberId: id,
      epoch: () => known.current?.epoch ?? epoch(0),
      peers,
      leader: known,
      replica,
      clock,
    };
    this.remote = new RemoteLeader({ ...shared, applied, random: new Prng(Number(id)), timeoutMs: TIMEOUT_MS });
    this.follower = new Follower({
      ...shared,
      endOf: (leader, signal) => this.remote.endOf(leader, signal),
      storage: group.storages.get(id)!,
      logger: quiet,
      onRefused: () => expect.unreachable(),
      nameOf: () => undefined,
      onFatal: (error) => fatal.push(error),
    });
  }
}

/** Three members over one log. The test decides which member leads. */
export class Group {
  readonly clock = new SimClock();
  readonly log = new SharedLog('the log');
  readonly members: TestMember[] = [];
  readonly storages = new Map<bigint, SharedLogStorage>();
  /** What happens to the next calls, one item for each. Calls after them arrive. */
  readonly ways: Way[] = [];
  calls = 0;
  /** Calls that are still on their way. Each arrives when its function is called. */
  readonly late: (() => Promise<Uint8Array>)[] = [];
  /** The leader is about to stop. */
  stops = false;
  readonly tracer = new RecordingTracer();
  /** The requests that members have sent, in their order. */
  readonly requests: Uint8Array[] = [];

  static async open(): Promise<Group> {
    const group = new Group();
    for (const id of [1n, 2n, 3n]) group.members.push(await group.#open(id));
    await group.elect(1n, 2);
    return group;
  }

  async #open(id: bigint): Promise<TestMember> {
    const storage = new SharedLogStorage(this.log, new SimCopy());
    this.storages.set(id, storage);
    const feed = new CommittedFeed();
    const fatal: Error[] = [];
    const known = new KnownLeader(this.clock);
    let member: TestMember | undefined;
    const { values } = storage;
    const backend = await openReplica({
      storage: {
        log: new FeedingLog(storage.log, feed),
        values,
        [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
      },
      clock: this.clock,
      random: new Prng(Number(id)),
      logger: quiet,
      memberId: id,
      cluster: {
        get leader() {
          return member!.remote;
        },
        confirm: async () => undefined,
        readIndex: (caller: Caller) => {
          if (backend.leadership !== undefined) return undefined;
          return member!.remote.ask({ readIndex: {} }, caller).then(() => undefined);
        },
      },
      onFatal: (error) => fatal.push(error),
    });
    member = new TestMember(id, this, backend, feed, known, fatal);
    return member;
  }

  member(id: bigint): TestMember {
    return this.members.find((member) => member.id === id)!;
  }

  /** `tells`: the members that learn of the new leader. */
  async elect(id: bigint, inEpoch: number, tells: readonly bigint[] = [1n, 2n, 3n]): Promise<void> {
    const leader = this.member(id);
    await leader.follower.stop();
    leader.calls.reset();
    await leader.backend.lead(epoch(inEpoch));
    for (const member of this.members) {
      if (!tells.includes(member.id)) continue;
      if (member !== leader && member.backend.leadership !== undefined) {
        member.feed.end();
        await member.backend.stepDown();
      }
      member.known.set({ memberId: id, epoch: epoch(inEpoch) });
      if (member !== leader) member.follower.start();
    }
    await this.clock.settle();
  }

  peersOf(from: bigint): Peers {
    return {
      call: async (to, request, signal) => {
        this.calls += 1;
        this.requests.push(request);
        const caller = { member: from, signal: signal ?? nodeItself.signal };
        const way = this.ways.shift() ?? 'arrives';
        if (way === 'unsent') throw new PeerError('unsent', 'the test says so');
        if (way === 'late') this.late.push(() => this.member(to).calls.call(request, caller));
        if (way === 'late' || way === 'lost-before') throw new PeerError('lost', 'the test says so');
        if (way === 'silent-before') return new Promise(() => {});
        const answer = await this.member(to).calls.call(request, caller);
        if (way === 'lost-after') throw new PeerError('lost', 'the test says so');
        if (way === 'silent-after') return new Promise(() => {});
        return answer;
      },
      follow: (to, position, signal) => this.member(to).feed.follow(position, signal),
    };
  }

  /** Lets time pass in small steps until the work is done. */
  async run<Value>(work: Promise<Value>): Promise<Value> {
    let done = false;
    const watched = work.finally(() => {
      done = true;
    });
    watched.catch(() => undefined);
    for (let step = 0; !done && step < 400; step += 1) {
      await this.clock.settle(2);
      this.clock.advance(25);
    }
    return watched;
  }
}

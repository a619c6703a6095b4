import { type BackendSettings, nodeItself } from '@engram/backend';
import type { LogPosition } from '@engram/core';
import { MemoryRaftDisk, MemoryRaftStorage, type Member as ElectedMember, memberId } from '@engram/election';
import {
  type AuthSettings,
  ClusterMember,
  type ClusterMemberOptions,
  type Introduction,
  PeerError,
  type PeerNetwork,
} from '@engram/member';
import { defaultLimits } from '@engram/raft-ts';
import { SimCopy, Prng, quiet, SharedLog, SharedLogStorage, SimClock } from '@engram/sim';
import type { FaultPlan, LogBatch } from '@engram/storage';

const TICK_MS = 100;

interface Host {
  readonly id: bigint;
  readonly copy: SimCopy;
  readonly raft: MemoryRaftDisk;
  member: ClusterMember | undefined;
  storage: SharedLogStorage | undefined;
  generation: number;
}

/** Whole members over one log, with a network in memory. Between a pair of ids in `cut`, from and to, messages are lost. */
export class TestCluster {
  readonly clock = new SimClock();
  /** Of members that start from then on. */
  clusterId = 0xc1n;
  readonly log = new SharedLog('the log');
  readonly fatal: Error[] = [];
  /** Storage ends the members by it. */
  readonly endStorage = new AbortController();
  readonly removed: bigint[] = [];
  /** The faults of a member's storage, from its next start on. */
  readonly plans = new Map<bigint, FaultPlan>();
  /** The settings of members that start from then on. */
  settings: BackendSettings = { requestTimeoutMs: 7000 };
  /** The limits of members that start from then on. */
  limits: ClusterMemberOptions['limits'] = {};
  /** How users log in at a member, if they do. */
  auth: ((id: bigint) => AuthSettings) | undefined;
  corruptionChecks = { newestMs: 0, compactedMs: 0 };
  readonly cut = new Set<string>();
  /** Why messages between members were refused. */
  readonly refused: string[] = [];
  /** Pairs, from and to, between which calls arrive but their answers are lost. */
  readonly unanswered = new Set<string>();
  /** What arrives instead of a request between two members. */
  changeRequest: (request: Uint8Array) => Uint8Array = (request) => request;
  /** What arrives instead of an answer between two members. */
  changeAnswer: (answer: Uint8Array) => Uint8Array = (answer) => answer;
  /** Members whose requests to storage get lost, until they are healed. */
  readonly #cutOffStorage = new Map<bigint, PromiseWithResolvers<void>>();
  readonly #heldFeeds = new Map<bigint, PromiseWithResolvers<void>>();
  readonly #heldMessages = new Map<bigint, PromiseWithResolvers<void>>();
  /** The members that each member keeps a connection to, as of its last `setMembers`. */
  readonly dialed = new Map<bigint, readonly bigint[]>();
  /** Whom a member that joins is told of at its start. Undefined: the members of now. */
  introduced: readonly bigint[] | undefined;
  /** The network of every member fails to take a member list while this is set. */
  failingNetworks = false;
  readonly #hosts = new Map<bigint, Host>();
  readonly #firstMembers: readonly ElectedMember[];

  constructor(ids: readonly bigint[] = [1n, 2n, 3n]) {
    this.#firstMembers = ids.map((id) => ({
      id: memberId(id),
      name: '',
      peerUrls: [urlOf(id)],
      clientUrls: [],
      isLearner: false,
    }));
  }

  static async start(ids?: readonly bigint[], auth?: TestCluster['auth']): Promise<TestCluster> {
    const cluster = new TestCluster(ids);
    cluster.auth = auth;
    for (const { id } of cluster.#firstMembers) await cluster.start(id);
    return cluster;
  }

  async start(id: bigint, joins = false): Promise<ClusterMember> {
    let host = this.#hosts.get(id);
    if (host === undefined) {
      const raft = new MemoryRaftDisk();
      host = { id, copy: new SimCopy(), raft, member: undefined, storage: undefined, generation: 0 };
      this.#hosts.set(id, host);
    }
    host.generation += 1;
    const { generation } = host;
    const way = async (): Promise<void> => this.#cutOffStorage.get(id)?.promise;
    host.storage = new SharedLogStorage(this.log, host.copy, { gate: way, ...this.plans.get(id) });
    host.member = await ClusterMember.start({
      storage: host.storage,
      raftStorage: new MemoryRaftStorage(host.raft),
      network: this.#networkOf(host),
      identity: {
        clusterId: this.clusterId,
        memberId: id,
        name: `m${id}`,
        peerUrls: [urlOf(id)],
        clientUrls: [`http://c${id}`],
      },
      election: {
        tickMs: TICK_MS,
        limits: defaultLimits,
        rules: { strict: true, learnersMax: 1 },
        snapshotEntries: 100,
        keptEntries: 50,
      },
      token: 'test',
      probeStorage: async (signal) => {
        const late = Promise.withResolvers<never>();
        signal.addEventListener('abort', () => late.reject(signal.reason), { once: true });
        await Promise.race([way(), late.promise]);
      },
      storageEnded: this.endStorage.signal,
      firstMembers: joins ? undefined : this.#firstMembers,
      ...(joins ? { introduction: this.#introduction } : {}),
      settings: this.settings,
      corruptionChecks: this.corruptionChecks,
      limits: this.limits,
      auth: this.auth?.(id),
      version: '3.7.0',
      compaction: { mode: 'off' },
      clock: this.clock,
      random: new Prng(Number(id) * 1000 + host.generation),
      logger: quiet,
      onRemoved: () => this.removed.push(id),
      onFatal: (error) => {
        if (host.generation === generation) this.fatal.push(error);
      },
    });
    for (const other of this.#hosts.values()) {
      if (other.member === undefined || other === host) continue;
      other.member.service.connected(id);
      host.member.service.connected(other.id);
    }
    return host.member;
  }

  get #introduction(): Introduction {
    const now = (): readonly ElectedMember[] =>
      this.running
        .map(({ member }) => member.cluster.members)
        .reduce((one, other) => (other.length > one.length ? other : one), [])
        .map((one) => ({ ...one, id: memberId(one.id) }));
    const { introduced } = this;
    const members = introduced === undefined ? now() : now().filter(({ id }) => introduced.includes(id));
    return { members, read: () => Promise.resolve(now()) };
  }

  member(id: bigint): ClusterMember {
    const { member } = this.#hosts.get(id)!;
    if (member === undefined) throw new Error(`member ${id} does not run`);
    return member;
  }

  get running(): readonly ClusterMember[] {
    return [...this.#hosts.values()].flatMap(({ member }) => (member === undefined ? [] : [member]));
  }

  /** The member gets no batches of others until it is released. */
  holdFeed(id: bigint): void {
    this.#heldFeeds.set(id, Promise.withResolvers());
  }

  releaseFeed(id: bigint): void {
    this.#heldFeeds.get(id)?.resolve();
    this.#heldFeeds.delete(id);
  }

  /** The member gets no message of the election until it is released; calls between members go on. */
  holdMessages(id: bigint): void {
    this.#heldMessages.set(id, Promise.withResolvers());
  }

  releaseMessages(id: bigint): void {
    this.#heldMessages.get(id)?.resolve();
    this.#heldMessages.delete(id);
  }

  cutStorage(id: bigint): void {
    this.#cutOffStorage.set(id, Promise.withResolvers());
  }

  healStorage(id: bigint): void {
    this.#cutOffStorage.get(id)?.resolve();
    this.#cutOffStorage.delete(id);
  }

  /** Ends the member as a crash does; its address refuses connections from then on. */
  kill(id: bigint): void {
    const host = this.#hosts.get(id)!;
    host.generation += 1;
    host.storage?.crash();
    host.member = undefined;
    for (const { member } of this.#hosts.values()) {
      member?.service.disconnected(id);
      member?.service.gone(id);
    }
  }

  async stop(id: bigint): Promise<void> {
    const host = this.#hosts.get(id)!;
    const { member } = host;
    await this.run(member![Symbol.asyncDispose]());
    host.generation += 1;
    host.member = undefined;
    for (const other of this.running) other.service.disconnected(id);
  }

  /** Lets time pass in small steps until the work is done. */
  async run<Value>(work: Promise<Value>, stepsMax = 3000): Promise<Value> {
    let done = false;
    const watched = work.finally(() => {
      done = true;
    });
    watched.catch(() => undefined);
    for (let step = 0; !done && step < stepsMax; step += 1) {
      await this.clock.settle(2);
      if (!done) this.clock.advance(10);
    }
    if (!done) throw new Error('it takes for ever');
    return watched;
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      await this.clock.settle(2);
      this.clock.advance(10);
    }
  }

  /** Waits until a member leads and all running members know it; returns that member. */
  async leader(): Promise<ClusterMember> {
    for (let step = 0; step < 2000; step += 1) {
      const leader = this.running.find(({ member }) => member.stats.leadsIn !== undefined);
      const id = leader?.member.cluster.memberId;
      const known = this.running.every(({ member }) => member.cluster.leaderId === id);
      if (leader !== undefined && known) return leader;
      await this.pass(10);
    }
    throw new Error('nobody leads');
  }

  #networkOf(host: Host): PeerNetwork {
    const { generation } = host;
    const reach = (to: bigint): Host | undefined => {
      const other = this.#hosts.get(to);
      const cut = this.cut.has(`${host.id}>${to}`) || host.generation !== generation;
      return other?.member === undefined || cut ? undefined : other;
    };
    return {
      send: (to, bytes) => {
        const sent = bytes.slice();
        this.clock.soon(async () => {
          await this.#heldMessages.get(to)?.promise;
          const fault = reach(to)?.member?.service.message(sent, { member: host.id, dialed: true });
          if (fault !== undefined) this.refused.push(fault);
        });
      },
      setMembers: (members) => {
        if (this.failingNetworks) throw new TypeError('the test says so');
        this.dialed.set(
          host.id,
          members.map(({ id }) => id),
        );
      },
      call: async (to, request, signal) => {
        const there = reach(to)?.member;
        if (there === undefined) throw new PeerError('unsent', 'cut');
        const caller = { member: host.id, signal: signal ?? nodeItself.signal };
        const answer = await there.service.call(this.changeRequest(request), caller);
        const back = `${to}>${host.id}`;
        if (reach(to)?.member !== there || this.cut.has(back) || this.unanswered.has(back))
          throw new PeerError('lost', 'cut');
        return this.changeAnswer(answer);
      },
      follow: (to, from, signal) => this.#follow(host, generation, to, from, signal),
    };
  }

  async *#follow(
    host: Host,
    generation: number,
    to: bigint,
    from: LogPosition,
    signal: AbortSignal,
  ): AsyncGenerator<LogBatch> {
    const there = this.#hosts.get(to)?.member;
    if (there === undefined) throw new PeerError('unsent', 'cut');
    for await (const batch of there.service.follow(from, signal)) {
      await this.#heldFeeds.get(host.id)?.promise;
      const cut = this.cut.has(`${to}>${host.id}`) || host.generation !== generation;
      if (cut || this.#hosts.get(to)?.member !== there) throw new PeerError('lost', 'cut');
      yield batch;
    }
  }
}

const urlOf = (id: bigint): string => `http://127.0.0.1:${1000 + Number(id)}`;

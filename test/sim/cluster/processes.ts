import { type Caller, nodeItself } from '@engram/backend';
import { decodeKeyValue } from '@engram/coder';
import { putOp, rangeOp } from '@engram/core';
import {
  type Member as ElectedMember,
  Election,
  type ElectionView,
  goOnAlone,
  type MemberId,
  MemoryRaftDisk,
  MemoryRaftStorage,
  memberId,
  type RaftState,
} from '@engram/election';
import { SimCopy, Prng, quiet, Scheduler, SharedLog, SimHost, SimNetwork } from '@engram/sim';
import { ClusterImages } from './cluster-images.ts';
import { ClusterLife } from './cluster-life.ts';
import { CLUSTER_ID, electionOptions, urlOf } from './member-life.ts';
import { plainClusterSettings } from './settings.ts';

const STEP_MS = 20;
/** More than a request may take. */
const PATIENCE_MS = 15_000;
const caller: Caller = { ...nodeItself, timeoutMs: undefined };
const KEY = Buffer.from('k');

/**
 * Whole members over one log, each process on a host of its own. Several processes may run for one member, as after a
 * replacement of one that was believed dead. Each process sees the others where `reach` says.
 */
export class Processes {
  readonly scheduler = new Scheduler({ random: new Prng(7) });
  readonly network = new SimNetwork(new Prng(8));
  readonly log = new SharedLog('the log');
  /** Why processes have ended, by name. */
  readonly ended = new Map<string, string>();
  readonly first: readonly ElectedMember[];
  readonly #images = new ClusterImages(this.log, () => {});
  readonly #raft = new Map<bigint, MemoryRaftDisk>();
  readonly #hosts = new Map<string, SimHost>();
  readonly #lives = new Map<string, ClusterLife>();
  /** For each process, the process at which it reaches a member, if that is not the member's first. */
  readonly #reach = new Map<string, string>();
  readonly #firstOf = new Map<bigint, string>();

  /** The first process of each member, by its name. */
  constructor(members: Readonly<Record<string, bigint>>) {
    for (const [name, id] of Object.entries(members)) this.#firstOf.set(id, name);
    this.first = Object.values(members).map((id) => ({
      id: memberId(id),
      name: '',
      peerUrls: [urlOf(id)],
      clientUrls: [],
      isLearner: false,
    }));
  }

  run(work: () => Promise<void>): Promise<void> {
    return this.scheduler.run(work());
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.scheduler.after(ms, resolve));
  }

  async until(what: () => boolean, forMs = 60_000): Promise<void> {
    for (let waitedMs = 0; !what(); waitedMs += STEP_MS) {
      if (waitedMs >= forMs) throw new Error(`not within ${forMs} ms`);
      await this.wait(STEP_MS);
    }
  }

  host(name: string): SimHost {
    let host = this.#hosts.get(name);
    if (host === undefined) {
      host = new SimHost(this.scheduler, { name, random: new Prng(100 + this.#hosts.size) });
      this.#hosts.set(name, host);
    }
    return host;
  }

  raftOf(member: bigint): MemoryRaftDisk {
    let disk = this.#raft.get(member);
    if (disk === undefined) {
      disk = new MemoryRaftDisk();
      this.#raft.set(member, disk);
    }
    return disk;
  }

  /** From now on the process `from` reaches `member` at the process `at`. */
  reach(from: string, member: bigint, at: string): void {
    this.#reach.set(`${from} ${member}`, at);
    const life = this.#lives.get(from);
    // Connections that stand lead to the process before.
    life?.links.setMembers(this.first.filter(({ id }) => id !== member));
    life?.links.setMembers(this.first);
  }

  cut(one: string, other: string): void {
    this.network.cut(this.host(one), this.host(other));
    this.network.cut(this.host(other), this.host(one));
  }

  start(name: string, member: bigint): void {
    const host = this.host(name);
    this.ended.delete(name);
    const life: ClusterLife = new ClusterLife({
      id: member,
      host,
      disks: { copy: new SimCopy(), raft: this.raftOf(member) },
      random: new Prng(Number(member) * 31 + name.length),
      settings: plainClusterSettings,
      log: this.log,
      images: this.#images,
      network: this.network,
      logger: quiet,
      firstMembers: this.first,
      peers: this.first,
      readPeers: () => Promise.resolve(this.first),
      hostOf: (other) => this.host(this.#reach.get(`${name} ${other}`) ?? this.#firstOf.get(other)!),
      serviceOf: (process) => [...this.#lives.values()].find((one) => one.process === process)?.member?.service,
      onAppending: () => {},
      onCompacted: () => {},
      onRemoved: () => this.#end(name, life, 'removed'),
      onFatal: (error) => this.#end(name, life, error.message),
    });
    this.#lives.set(name, life);
    life.open().catch((error: unknown) => this.#end(name, life, String(error)));
  }

  /** Starts the member again as the only one (`--force-new-cluster`). Whether the others live is not looked at. */
  async startAlone(name: string, member: bigint): Promise<void> {
    this.kill(name);
    const clusterOf = (self: MemberId, state: RaftState): ElectionView =>
      new Election({ ...electionOptions, clusterId: CLUSTER_ID, self, random: new Prng(1) }, state).view;
    await goOnAlone({
      self: this.first.find(({ id }) => id === member)!,
      known: [...this.#raft.keys()].map(memberId),
      storageOf: (id) => new MemoryRaftStorage(this.raftOf(id)),
      agreedBy: (states) =>
        [...states]
          .map(([self, state]) => clusterOf(self, state))
          .reduce((one, other) => (other.appliedIndex > one.appliedIndex ? other : one)).cluster,
    });
    this.start(name, member);
  }

  kill(name: string): void {
    this.#lives.get(name)!.process.kill();
  }

  life(name: string): ClusterLife {
    return this.#lives.get(name)!;
  }

  serves(name: string): boolean {
    return this.#lives.get(name)?.face !== undefined;
  }

  leads(name: string): boolean {
    return this.#lives.get(name)?.leads === true;
  }

  async moveLeader(to: string): Promise<void> {
    const leader = [...this.#lives.values()].find(({ leads }) => leads)!;
    const wanted = this.life(to);
    if (leader === wanted) return;
    await leader.member!.member.cluster.changes!.moveLeader(wanted.id, caller);
    await this.until(() => wanted.leads);
  }

  /** Puts the value of the one key. */
  async put(name: string, value: string): Promise<void> {
    const txn = { compares: [], success: [putOp(KEY, Buffer.from(value))], failure: [] };
    await this.life(name).member!.member.store.txn(txn, caller);
  }

  /** A linearizable read of the key: its value, or the code of the error, or `no answer` of a process that ends meanwhile. */
  get(name: string): Promise<string> {
    return Promise.race([this.#get(name), this.wait(PATIENCE_MS).then(() => 'no answer')]);
  }

  async #get(name: string): Promise<string> {
    const { member } = this.life(name);
    if (member === undefined) return 'no answer';
    try {
      const { kvs } = await member.member.store.range(rangeOp({ key: KEY, end: new Uint8Array(0) }), caller);
      const [kv] = [...kvs];
      return kv === undefined ? 'none' : Buffer.from(decodeKeyValue(kv).value).toString();
    } catch (error) {
      return `error ${(error as { code?: string }).code ?? String(error)}`;
    }
  }

  #end(name: string, life: ClusterLife, why: string): void {
    this.ended.set(name, why);
    life.process.kill();
  }
}

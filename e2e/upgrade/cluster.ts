import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';
import { type ClusterPlace, freePlaces, leaderAmong, MemberProcess } from '../cluster/cluster-member.ts';
import { Lab } from '../tikv/lab.ts';

export type Version = 'before' | 'now';

/** Images are written and the log is trimmed every few seconds; a transaction may be longer than a message between members. */
const flags = [
  '--log-segment-bytes=131072',
  '--image-every-bytes-min=1048576',
  '--image-interval=500ms',
  '--max-txn-ops=8192',
];
/** After a start, members find each other, as in a rolling restart of an operator. */
const SETTLED_MS = 1000;
const MOVED_MAX_MS = 30_000;

/** Three members, each of one version or the other, on PD and one store. */
export class MixedCluster implements AsyncDisposable {
  readonly members: readonly MemberProcess[];
  readonly #lab: Lab;
  readonly #before: string;
  readonly #versions = new Map<MemberProcess, Version>();

  private constructor(lab: Lab, members: readonly MemberProcess[], before: string) {
    this.#lab = lab;
    this.members = members;
    this.#before = before;
  }

  /** All of the version before, which `before` starts. */
  static async start(folder: string, before: string): Promise<MixedCluster> {
    const lab = await Lab.start(join(folder, 'lab'), { store: 'onenode', strict: false });
    const place: ClusterPlace = { pd: lab.pdAddresses, prefix: 'upgrade', members: await freePlaces(folder) };
    const cluster = new MixedCluster(
      lab,
      place.members.map((member) => new MemberProcess(place, member, flags)),
      before,
    );
    for (const member of cluster.members) cluster.#start(member, 'before');
    await Promise.all(cluster.members.map((member) => member.ready()));
    return cluster;
  }

  get endpoints(): readonly string[] {
    return this.members.map(({ endpoint }) => endpoint);
  }

  /** The versions, the leader's first. */
  async versions(): Promise<string> {
    const leader = await this.leader();
    const others = this.members.filter((member) => member !== leader);
    return [leader, ...others].map((member) => this.#versions.get(member)).join(', ');
  }

  leader(): Promise<MemberProcess> {
    return leaderAmong(this.members);
  }

  /** The members of a version. */
  of(version: Version): readonly MemberProcess[] {
    return this.members.filter((member) => this.#versions.get(member) === version);
  }

  /** Resolves when a member of this version leads: on a busy machine the leadership moves by itself too. */
  async leadBy(version: Version): Promise<void> {
    if (this.#versions.get(await this.leader()) !== version) await this.lead(this.of(version)[0]!);
  }

  async followers(): Promise<readonly MemberProcess[]> {
    const leader = await this.leader();
    return this.members.filter((member) => member !== leader);
  }

  /** Restarts a member as `version`; without its disk, it starts from the image. */
  async change(member: MemberProcess, version: Version, disk: 'keeps its disk' | 'loses its disk'): Promise<void> {
    await member.stop();
    if (disk === 'loses its disk') await rm(member.place.dataDir, { recursive: true, force: true });
    this.#start(member, version);
    await member.ready();
    await sleep(SETTLED_MS);
  }

  /** Starts a member that has ended, and does not wait. */
  startAgain(member: MemberProcess, version: Version): void {
    this.#start(member, version);
  }

  /** Moves the leadership, as `etcdctl move-leader` does. */
  async lead(member: MemberProcess): Promise<void> {
    using target = new EtcdClient(member.endpoint);
    const { header } = await target.status();
    const begin = performance.now();
    for (;;) {
      const leader = await this.leader();
      if (leader === member) return;
      assert.ok(performance.now() - begin < MOVED_MAX_MS, `${member.place.name} does not come to lead`);
      using client = new EtcdClient(leader.endpoint);
      try {
        await client.moveLeader(header!.memberId);
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        await sleep(200);
      }
    }
  }

  #start(member: MemberProcess, version: Version): void {
    this.#versions.set(member, version);
    if (version === 'before') member.start(this.#before);
    else member.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const member of this.members) await member.kill();
    await this.#lab[Symbol.asyncDispose]();
  }
}

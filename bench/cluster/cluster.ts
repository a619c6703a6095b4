import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Certificates } from '../../e2e/cluster/certificates.ts';
import { type ClusterPlace, freePlaces, isLeader, MemberProcess } from '../../e2e/cluster/cluster-member.ts';
import { Lab } from '../../e2e/tikv/lab.ts';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { freePort } from '../../test/support/free-port.ts';
import type { LoadTarget } from '../support/load.ts';
import { commandOf } from '../support/programs.ts';
import { untilIdle, type Usage, usageOf } from '../support/usage.ts';

const NAMES = ['a', 'b', 'c'] as const;
const LEADER_MAX_MS = 60_000;
/** Seven idle processes use more CPU than one. */
const IDLE_SHARE = 0.2;

export interface Endpoint {
  readonly endpoint: string;
  readonly peerPort: number;
  readonly pid: number;
}

/** Three members with the processes they depend on, all on this machine. */
export interface Cluster extends AsyncDisposable {
  readonly members: readonly Endpoint[];
  /** The pids of the processes besides the members, by role. */
  readonly below: Readonly<Record<string, readonly number[]>>;
}

export interface ClusterOptions {
  /** More flags of each member. */
  readonly flags?: readonly string[];
  /** Members connect over TLS, each with a certificate of one authority. */
  readonly secure?: boolean;
}

/** Makes a certificate for all members below `folder`. Returns the flags, the same ones for both stores. */
function certificateFlags(folder: string): readonly string[] {
  const certificates = new Certificates(join(folder, 'tls'));
  certificates.authority('ca');
  certificates.certify('member', { by: 'ca', commonName: 'member', hostname: 'localhost' });
  return [
    `--peer-cert-file=${certificates.file('member.crt')}`,
    `--peer-key-file=${certificates.file('member.key')}`,
    `--peer-trusted-ca-file=${certificates.file('ca.crt')}`,
    '--peer-client-cert-auth',
  ];
}

export async function startEngram(folder: string, options: ClusterOptions = {}): Promise<Cluster> {
  const lab = await Lab.startReplicated(join(folder, 'lab'), { strict: false });
  const place: ClusterPlace = {
    pd: lab.pdAddresses,
    prefix: 'bench',
    ...(options.secure === true ? { peerScheme: 'https' as const } : {}),
    members: await freePlaces(folder),
  };
  const flags = [
    '--log-level=warn',
    '--quota-backend-bytes=8589934592',
    ...(options.secure === true ? certificateFlags(folder) : []),
    ...(options.flags ?? []),
  ];
  const members = place.members.map((member) => new MemberProcess(place, member, flags));
  for (const member of members) member.start();
  await Promise.all(members.map(({ endpoint }) => served(endpoint)));
  return {
    members: members.map(({ endpoint, pid, place: { peerPort } }) => ({ endpoint, pid, peerPort })),
    below: { stores: [1, 2, 3].map((number) => lab.pid(`s${number}`)), pd: [lab.pid('pd1')] },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(members.map((member) => member.kill()));
      await lab[Symbol.asyncDispose]();
    },
  };
}

export async function startEtcd(folder: string, options: ClusterOptions = {}): Promise<Cluster> {
  const ports = await Promise.all(NAMES.map(async () => ({ client: await freePort(), peer: await freePort() })));
  const url = (port: number): string => `http://127.0.0.1:${port}`;
  const peerUrl = (port: number): string => `${options.secure === true ? 'https' : 'http'}://127.0.0.1:${port}`;
  const initial = NAMES.map((name, at) => `${name}=${peerUrl(ports[at]!.peer)}`).join();
  const more = [...(options.secure === true ? certificateFlags(folder) : []), ...(options.flags ?? [])];
  const [program, ...fixed] = commandOf('etcd');
  const children: ChildProcess[] = NAMES.map((name, at) => {
    const { client, peer } = ports[at]!;
    const flags = [
      `--name=${name}`,
      `--data-dir=${join(folder, `etcd-${name}`)}`,
      `--listen-client-urls=${url(client)}`,
      `--advertise-client-urls=${url(client)}`,
      `--listen-peer-urls=${peerUrl(peer)}`,
      `--initial-advertise-peer-urls=${peerUrl(peer)}`,
      `--initial-cluster=${initial}`,
      '--quota-backend-bytes=8589934592',
      '--log-level=error',
      ...more,
    ];
    return spawn(program!, [...fixed, ...flags], { stdio: 'ignore' });
  });
  process.once('exit', () => {
    for (const child of children) child.kill('SIGKILL');
  });
  const members = children.map((child, at) => ({
    endpoint: `127.0.0.1:${ports[at]!.client}`,
    peerPort: ports[at]!.peer,
    pid: child.pid!,
  }));
  await Promise.all(members.map(({ endpoint }) => served(endpoint)));
  return {
    members,
    below: {},
    [Symbol.asyncDispose]: async () => {
      for (const child of children) child.kill('SIGKILL');
    },
  };
}

async function served(endpoint: string): Promise<void> {
  using client = new EtcdClient(endpoint, { deadlineMs: 2000 });
  for (const endMs = performance.now() + LEADER_MAX_MS; ; await delay(50)) {
    try {
      await client.range({ key: Uint8Array.of(0x2f) });
      return;
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
  }
}

/** The members of a cluster by role, for loads. Roles may change between two loads. */
export class ClusterTarget implements LoadTarget {
  readonly target: string;
  readonly #parts: Readonly<Record<string, readonly number[]>>;

  private constructor(target: string, parts: Readonly<Record<string, readonly number[]>>) {
    this.target = target;
    this.#parts = parts;
  }

  static async at(cluster: Cluster, role: 'leader' | 'follower'): Promise<ClusterTarget> {
    const leader = await leaderOf(cluster);
    const followers = cluster.members.filter((member) => member !== leader);
    const { endpoint } = role === 'leader' ? leader : followers[0]!;
    const parts = { leader: [leader.pid], followers: followers.map(({ pid }) => pid), ...cluster.below };
    return new ClusterTarget(endpoint, parts);
  }

  usage(): Usage {
    const all = Object.values(this.#parts).flat().map(usageOf);
    const sum = (of: (usage: Usage) => number): number => all.reduce((total, usage) => total + of(usage), 0);
    return {
      cpuSeconds: sum((usage) => usage.cpuSeconds),
      mainThreadSeconds: sum((usage) => usage.mainThreadSeconds),
      residentMb: sum((usage) => usage.residentMb),
      anonymousMb: sum((usage) => usage.anonymousMb),
      peakMb: sum((usage) => usage.peakMb),
    };
  }

  /** CPU seconds of each part so far. */
  cpuByPart(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      Object.entries(this.#parts).map(([part, pids]) => [
        part,
        pids.reduce((total, pid) => total + usageOf(pid).cpuSeconds, 0),
      ]),
    );
  }

  idle(maxMs: number): Promise<Usage> {
    return untilIdle(() => this.usage(), IDLE_SHARE, maxMs);
  }
}

export async function leaderOf({ members }: Cluster): Promise<Endpoint> {
  for (const endMs = performance.now() + LEADER_MAX_MS; performance.now() < endMs; await delay(50)) {
    for (const member of members) {
      if (await isLeader(member.endpoint, 1000)) return member;
    }
  }
  throw new Error('nobody leads');
}

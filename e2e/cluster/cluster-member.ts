import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { freePort } from '../../test/support/free-port.ts';
import { inNetns } from '../tikv/lab.ts';

export interface MemberPlace {
  readonly name: string;
  readonly clientPort: number;
  readonly peerPort: number;
  readonly dataDir: string;
  /** 127.0.0.1 if absent. */
  readonly host?: string;
  /** The path of the network namespace that the member runs in. This process's if absent. */
  readonly netns?: string;
}

export interface ClusterPlace {
  readonly pd: readonly string[];
  readonly prefix: string;
  /** The scheme of the peer URLs. http if absent. */
  readonly peerScheme?: 'https';
  readonly members: readonly MemberPlace[];
}

/** Three members of one cluster on this host, each with its own folder below `folder`. */
export const freePlaces = (folder: string): Promise<readonly MemberPlace[]> =>
  Promise.all(
    ['a', 'b', 'c'].map(async (name) => ({
      name,
      clientPort: await freePort(),
      peerPort: await freePort(),
      dataDir: join(folder, name),
    })),
  );

const peerUrl = ({ peerScheme }: ClusterPlace, { host, peerPort }: MemberPlace): string =>
  `${peerScheme ?? 'http'}://${host ?? '127.0.0.1'}:${peerPort}`;
const engram = join(import.meta.dirname, '../../packages/server/bin/engram');
const READY_LINE = 'ready to serve client requests';
/** On a busy machine. A member itself gives up a stop that takes five seconds, and the end of its process comes behind that. */
const READY_MAX_MS = 150_000;
const STOP_MAX_MS = 60_000;
/** An election takes a second, and much longer on a machine that has other work. */
const LEADS_MAX_MS = 60_000;

/** A member: its process, and the processes that replace it after a restart. All end when this process ends. */
export class MemberProcess {
  readonly place: MemberPlace;
  readonly lines: string[] = [];
  readonly #cluster: ClusterPlace;
  readonly #flags: readonly string[];
  readonly #onLine: ((line: string) => void) | undefined;
  #child: ChildProcess | undefined;
  #ready = Promise.withResolvers<void>();

  constructor(
    cluster: ClusterPlace,
    place: MemberPlace,
    flags: readonly string[] = [],
    onLine?: (line: string) => void,
  ) {
    this.#cluster = cluster;
    this.place = place;
    this.#flags = flags;
    this.#onLine = onLine;
  }

  get endpoint(): string {
    return `${this.place.host ?? '127.0.0.1'}:${this.place.clientPort}`;
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error(`${this.place.name} does not run`);
    return this.#child.pid;
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Starts the member with `program`, and what comes before its flags: another version's, or this one's. */
  start(...program: readonly string[]): void {
    const { name, dataDir, netns } = this.place;
    const client = `http://${this.endpoint}`;
    const peer = peerUrl(this.#cluster, this.place);
    const initial = this.#cluster.members.map((member) => `${member.name}=${peerUrl(this.#cluster, member)}`).join();
    const command = [
      ...(program.length === 0 ? [engram] : program),
      `--name=${name}`,
      `--data-dir=${dataDir}`,
      '--storage=tikv',
      `--tikv-pd-endpoints=${this.#cluster.pd.join()}`,
      `--tikv-prefix=${this.#cluster.prefix}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=${initial}`,
      ...this.#flags,
    ];
    const [executable, ...args] = netns === undefined ? command : inNetns(netns, command);
    const child = spawn(executable!, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.removeListener('exit', kill));
    const ready = Promise.withResolvers<void>();
    ready.promise.catch(() => undefined);
    this.#ready = ready;
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.lines.push(line);
        if (this.lines.length > 300) this.lines.shift();
        this.#onLine?.(line);
        if (line.includes(READY_LINE)) ready.resolve();
      });
    }
    child.once('exit', () => ready.reject(new Error(`${name} has ended:\n${this.lines.slice(-10).join('\n')}`)));
  }

  async ready(): Promise<void> {
    await Promise.race([this.#ready.promise, this.#late()]);
  }

  async #late(): Promise<never> {
    await sleep(READY_MAX_MS, undefined, { ref: false });
    throw new Error(`${this.place.name} does not serve:\n${this.lines.slice(-10).join('\n')}`);
  }

  signal(signal: NodeJS.Signals): void {
    if (this.running) this.#child?.kill(signal);
  }

  /** Resolves when the process has ended by itself: with its exit code, or undefined if a signal has ended it. */
  async ended(withinMs = STOP_MAX_MS): Promise<number | undefined> {
    const child = this.#child;
    if (child === undefined) throw new Error(`${this.place.name} was not started`);
    if (!this.running) return child.exitCode ?? undefined;
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const late = sleep(withinMs, 'late' as const, { ref: false });
    if ((await Promise.race([exited, late])) === 'late') throw new Error(`${this.place.name} does not end by itself`);
    return child.exitCode ?? undefined;
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Stops the member with SIGTERM. Resolves when it has ended. Rejects if that takes too long. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.running) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    const late = sleep(STOP_MAX_MS, 'late' as const, { ref: false });
    if ((await Promise.race([ended, late])) === 'late') {
      child.kill('SIGKILL');
      throw new Error(`${this.place.name} did not end by ${signal}`);
    }
  }
}

/** The member that reports itself as the leader. Waits until there is one, and rejects where none comes. `deadlineMs`: of an answer. */
export async function leaderAmong<Member extends { readonly running: boolean; readonly endpoint: string }>(
  members: readonly Member[],
  deadlineMs = 1000,
): Promise<Member> {
  for (const endMs = performance.now() + LEADS_MAX_MS; performance.now() < endMs; await sleep(50)) {
    for (const member of members) {
      if (!member.running) continue;
      if (await isLeader(member.endpoint, deadlineMs)) return member;
    }
  }
  const asked = members.map(({ endpoint, running }) => `${endpoint}${running ? '' : ' (does not run)'}`);
  throw new Error(`no member leads after ${LEADS_MAX_MS} ms: ${asked.join(', ')}`);
}

/** Whether the member of Engram or etcd at `endpoint` answers, and reports itself as the leader. */
export async function isLeader(endpoint: string, deadlineMs: number): Promise<boolean> {
  using client = new EtcdClient(endpoint, { deadlineMs });
  const status = await client.status().catch(() => undefined);
  return status !== undefined && status.leader === status.header?.memberId;
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bounded } from '../../test/support/bounded.ts';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { freePort } from '../../test/support/free-port.ts';

const START_MAX_MS = 60_000;
const STOP_MAX_MS = 30_000;
const POLL_MS = 20;
const KEPT_OUTPUT_MAX = 8_000;
/** The nodes are idle when they take less than this share of a core for so long; their timers take some. */
const IDLE_SHARE = 0.1;
const IDLE_LOOK_MS = 10;
const IDLE_MAX_MS = 500;

/** Several nodes in one process (node-host.ts), run by node as a node of its own is. Disposal ends them and removes their data. */
export class HostedNodes implements AsyncDisposable {
  /** host:port of each. */
  readonly targets: readonly string[];
  readonly #child: ChildProcess;
  readonly #directory: string;
  #output = '';

  private constructor(child: ChildProcess, directory: string, targets: readonly string[]) {
    this.#child = child;
    this.#directory = directory;
    this.targets = targets;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-KEPT_OUTPUT_MAX);
      });
    }
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.removeListener('exit', kill));
  }

  /** Starts a node below `parent` for each list of further flags. `env`: more variables of their process. */
  static async start(
    parent: string,
    flagsOfNodes: readonly (readonly string[])[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<HostedNodes> {
    const directory = mkdtempSync(join(parent, 'nodes-'));
    const targets: string[] = [];
    const nodes: string[] = [];
    for (const [at, flags] of flagsOfNodes.entries()) {
      const [client, peer] = [await freePort(), await freePort()];
      const urls = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`] as const;
      targets.push(`127.0.0.1:${client}`);
      nodes.push(
        JSON.stringify([
          '--name=default',
          `--data-dir=${join(directory, String(at))}`,
          `--listen-client-urls=${urls[0]}`,
          `--advertise-client-urls=${urls[0]}`,
          `--listen-peer-urls=${urls[1]}`,
          `--initial-advertise-peer-urls=${urls[1]}`,
          `--initial-cluster=default=${urls[1]}`,
          '--quota-backend-bytes=8589934592',
          ...flags,
        ]),
      );
    }
    const root = join(import.meta.dirname, '../..');
    const script = 'root=$1 node=$2; shift 2; . "$root/packages/server/bin/runtime.sh"; exec "$node" $NODE_FLAGS "$@"';
    const host = join(import.meta.dirname, 'node-host.ts');
    const child = spawn('sh', ['-c', script, 'sh', root, process.execPath, host, ...nodes], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    const hosted = new HostedNodes(child, directory, targets);
    try {
      for (const target of targets) await hosted.#untilServing(target);
    } catch (error) {
      await hosted[Symbol.asyncDispose]();
      throw error;
    }
    return hosted;
  }

  /** CPU that the process's threads have had, in us. */
  cpuUs(): number {
    const tasks = `/proc/${this.#child.pid}/task`;
    let ns = 0;
    for (const task of readdirSync(tasks))
      ns += Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]);
    return ns / 1_000;
  }

  /** As cpuUs, when what the nodes have put off is done. That may begin `deferMs` later. */
  async idleCpuUs(deferMs = 0): Promise<number> {
    await delay(deferMs);
    const endMs = performance.now() + IDLE_MAX_MS;
    for (let before = this.cpuUs(); ; ) {
      const sinceMs = performance.now();
      await delay(IDLE_LOOK_MS);
      const now = this.cpuUs();
      const idle = now - before < IDLE_SHARE * 1_000 * (performance.now() - sinceMs);
      if (idle || performance.now() > endMs) return now;
      before = now;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#running) {
      const ended = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      try {
        await bounded('the nodes end', STOP_MAX_MS, ended);
      } finally {
        if (this.#running) this.#child.kill('SIGKILL');
      }
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }

  get #running(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async #untilServing(target: string): Promise<void> {
    using client = new EtcdClient(target);
    const endMs = performance.now() + START_MAX_MS;
    for (;;) {
      try {
        await client.range({ key: Uint8Array.of(0x2f) });
        return;
      } catch (error) {
        if (!this.#running || performance.now() > endMs) {
          throw new Error(`no node at ${target}:\n${this.#output}`, { cause: error });
        }
        await delay(POLL_MS);
      }
    }
  }
}

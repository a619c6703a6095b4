import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { freePort } from '../../test/support/free-port.ts';
import { figure } from '../support/statistics.ts';
import { type Stretches, stretchesOf } from './stretches.ts';
import { untilIdle, type Usage, usageOf } from '../support/usage.ts';

const START_MAX_MS = 60_000;
const IDLE_SHARE = 0.05;

/** One store under attack, on a plain port and a TLS port. Disposal kills it and removes its data. */
export class TargetProcess implements AsyncDisposable {
  readonly port: number;
  readonly securePort: number;
  readonly #child: ChildProcess;
  readonly #directory: string;
  #output = '';

  private constructor(child: ChildProcess, directory: string, port: number, securePort: number) {
    this.#child = child;
    this.#directory = directory;
    this.port = port;
    this.securePort = securePort;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-4_000);
      });
    }
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.removeListener('exit', kill));
  }

  static async start(
    command: string,
    parent: string,
    descriptors: number | undefined,
    more: readonly string[],
  ): Promise<TargetProcess> {
    const directory = mkdtempSync(join(parent, 'attacked-'));
    const [port, securePort, peer] = [await freePort(), await freePort(), await freePort()];
    const urls = `http://127.0.0.1:${port},https://127.0.0.1:${securePort}`;
    const flags = [
      '--name=default',
      `--data-dir=${join(directory, 'data')}`,
      `--listen-client-urls=${urls}`,
      `--advertise-client-urls=${urls}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-cluster=default=http://127.0.0.1:${peer}`,
      '--auto-tls',
      '--log-level=warn',
      '--quota-backend-bytes=8589934592',
      ...more,
    ];
    const limit = descriptors === undefined ? '' : `ulimit -n ${descriptors}; `;
    const child = spawn('sh', ['-c', `${limit}exec ${command} "$@"`, 'sh', ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const target = new TargetProcess(child, directory, port, securePort);
    const endMs = performance.now() + START_MAX_MS;
    while (!(await target.#answers())) {
      if (!target.running || performance.now() > endMs)
        throw new Error(`${command} does not serve:\n${target.#output}`);
      await delay(50);
    }
    return target;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The pid of the store itself: the commands that start it exec it. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get output(): string {
    return this.#output;
  }

  usage(): Usage | undefined {
    return this.running && this.#child.pid !== undefined ? usageOf(this.#child.pid) : undefined;
  }

  /** Its resource usage once it is idle, or after `maxMs`. */
  idle(maxMs: number): Promise<Usage | undefined> {
    return untilIdle(() => this.usage(), IDLE_SHARE, maxMs);
  }

  /** Resets the peak of its memory. */
  resetPeak(): void {
    if (this.#child.pid !== undefined) execFileSync('sh', ['-c', `echo 5 > /proc/${this.#child.pid}/clear_refs`]);
  }

  /** Puts `keys` keys, with values of 1 KiB of random bytes. */
  async fill(keys: number): Promise<void> {
    using client = new EtcdClient(`127.0.0.1:${this.port}`);
    for (let at = 0; at < keys; at += 200) {
      const puts = Array.from({ length: Math.min(200, keys - at) }, (_, of) =>
        client.put({ key: Buffer.from(`/attacked/${String(at + of).padStart(8, '0')}`), value: randomBytes(1024) }),
      );
      await Promise.all(puts);
    }
  }

  /** The longest stretch on its event loop, as the store reports it. `-` if it reports none. */
  async longestStretch(): Promise<string> {
    const [longest] = await this.stretches();
    return longest === undefined ? '-' : `${figure(longest.ms)} ms ${longest.by}`;
  }

  /** The kinds of stretches above the budget on its event loop, as the store reports them, the longest first. */
  async stretches(): Promise<readonly Stretches[]> {
    return stretchesOf(await (await fetch(`http://127.0.0.1:${this.port}/metrics`)).text());
  }

  async #answers(): Promise<boolean> {
    using client = new EtcdClient(`127.0.0.1:${this.port}`, { deadlineMs: 1_000 });
    try {
      await client.range({ key: Uint8Array.of(1) });
      return true;
    } catch {
      return false;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.running) {
      const ended = new Promise((resolve) => this.#child.once('exit', resolve));
      this.#child.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

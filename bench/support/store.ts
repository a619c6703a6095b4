import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bounded } from '../../test/support/bounded.ts';
import { EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';
import { freePort } from '../../test/support/free-port.ts';
import { diskBytes } from './disk-size.ts';
import { commandOf, type StoreName } from './programs.ts';
import { untilIdle, type Usage, usageOf } from './usage.ts';

/** Enough for ten million keys on a shared machine. */
const START_MAX_MS = 600_000;
const STOP_MAX_MS = 60_000;
const POLL_MS = 5;
const KEPT_OUTPUT_MAX = 8_000;
const IDLE_SHARE = 0.05;

/** One store in a directory of its own, over several starts. Disposal removes everything. */
export class Store implements AsyncDisposable {
  readonly name: StoreName;
  readonly target: string;
  readonly #directory: string;
  readonly #command: readonly string[];
  readonly #port: number;
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #output = '';

  private constructor(name: StoreName, directory: string, port: number, command: readonly string[]) {
    this.name = name;
    this.target = `127.0.0.1:${port}`;
    this.#directory = directory;
    this.#port = port;
    this.#command = command;
  }

  /**
   * Starts a new store below `parent`. Both stores get the same flags and otherwise keep their defaults: an
   * acknowledged write is on disk.
   */
  static async start(name: StoreName, parent: string, flags: readonly string[] = []): Promise<Store> {
    const directory = mkdtempSync(join(parent, `${name}-`));
    const client = await freePort();
    const url = (port: number): string => `http://127.0.0.1:${port}`;
    const peer = url(await freePort());
    const store = new Store(name, directory, client, [
      ...commandOf(name),
      '--name=default',
      `--data-dir=${join(directory, 'data')}`,
      `--listen-client-urls=${url(client)}`,
      `--advertise-client-urls=${url(client)}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      '--quota-backend-bytes=8589934592',
      '--log-level=warn',
      ...flags,
    ]);
    try {
      await store.start();
    } catch (error) {
      await store[Symbol.asyncDispose]();
      throw error;
    }
    return store;
  }

  /** Starts the process. Returns the milliseconds until the first linearizable read succeeded. */
  async start(): Promise<number> {
    const startMs = performance.now();
    const [program, ...args] = this.#command;
    if (program === undefined) throw new Error(`no command for ${this.name}`);
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    // Kills the store however this process ends: a store that outlives it would disturb the next measurement.
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.removeListener('exit', kill));
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-KEPT_OUTPUT_MAX);
      });
    }
    this.#ended = new Promise((resolve) => {
      child.once('error', (error) => {
        this.#output += error.message;
        resolve();
      });
      child.once('exit', () => resolve());
    });
    while (!(await this.#listens())) {
      if (!this.running) throw new Error(`${this.name} ended at its start:\n${this.#output}`);
      if (performance.now() - startMs > START_MAX_MS) throw new Error(`${this.name} does not listen:\n${this.#output}`);
      await delay(POLL_MS);
    }
    await this.#firstRead(startMs + START_MAX_MS);
    return performance.now() - startMs;
  }

  get running(): boolean {
    const child = this.#child;
    return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** The last output of the process: warnings and errors. */
  get output(): string {
    return this.#output;
  }

  usage(): Usage {
    const pid = this.#child?.pid;
    if (pid === undefined || !this.running) throw new Error(`${this.name} does not run:\n${this.#output}`);
    return usageOf(pid);
  }

  diskMb(): number {
    return diskBytes(this.#directory) / 2 ** 20;
  }

  /** Waits until the store is idle, or `maxMs`. Deferred work is part of the cost of a request. */
  idle(maxMs: number): Promise<Usage> {
    return untilIdle(() => this.usage(), IDLE_SHARE, maxMs);
  }

  /** Stops the store with SIGTERM. Returns the milliseconds until it ended. */
  async stop(): Promise<number> {
    return this.#end('SIGTERM');
  }

  /** Kills the store with SIGKILL. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.running) await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number> {
    const startMs = performance.now();
    if (this.running) this.#child?.kill(signal);
    try {
      await bounded(`${this.name} ends after ${signal}`, STOP_MAX_MS, this.#ended);
    } finally {
      if (this.running) this.#child?.kill('SIGKILL');
    }
    return performance.now() - startMs;
  }

  #listens(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
  }

  async #firstRead(endMs: number): Promise<void> {
    using client = new EtcdClient(this.target);
    for (;;) {
      try {
        await client.range({ key: Uint8Array.of(0x2f) });
        return;
      } catch (error) {
        // With users, nobody may read: a refusal is an answer too.
        if (error instanceof EtcdError && !error.uncertain) return;
        if (!this.running || performance.now() > endMs) {
          throw new Error(`${this.name} answers no read:\n${this.#output}`, { cause: error });
        }
        await delay(POLL_MS);
      }
    }
  }
}

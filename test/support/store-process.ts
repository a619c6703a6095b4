import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bounded } from './bounded.ts';
import { freePort } from './free-port.ts';

/** A log line of etcd and of every store that is started in its place. */
const READY_LINE = 'ready to serve client requests';
const START_MAX_MS = 30_000;
const STOP_MAX_MS = 15_000;
const KEPT_LINES_MAX = 200;

/** The command that starts the store under test: STORE_CMD, or this repository's engram. etcd's flags are appended. */
export function storeCommand(): readonly string[] {
  const command = process.env['STORE_CMD'];
  if (command === undefined || command === '') return [join(import.meta.dirname, '../../packages/server/bin/engram')];
  return command.split(' ');
}

/** A store's addresses and data, the same for every start. */
export interface StorePlace {
  readonly dataDir: string;
  readonly clientPort: number;
  readonly peerPort: number;
}

export async function newStorePlace(dataDir: string): Promise<StorePlace> {
  return { dataDir, clientPort: await freePort(), peerPort: await freePort() };
}

export interface StoreOptions {
  readonly command?: readonly string[];
  /** Further flags, after those for addresses and data. */
  readonly flags?: readonly string[];
}

/** One process of a store. It is killed by disposal, and when this process ends, if it still runs. */
export class StoreProcess implements AsyncDisposable {
  readonly place: StorePlace;
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #ended: Promise<void>;
  readonly #ready: Promise<void>;

  /** Starts the process without waiting for it; see `ready`. */
  constructor(place: StorePlace, options: StoreOptions = {}) {
    this.place = place;
    const [program, ...args] = options.command ?? storeCommand();
    if (program === undefined) throw new Error('no command to start the store with');
    const client = `http://127.0.0.1:${place.clientPort}`;
    const peer = `http://127.0.0.1:${place.peerPort}`;
    const flags = [
      '--name=default',
      `--data-dir=${place.dataDir}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      ...(options.flags ?? []),
    ];
    this.#child = spawn(program, [...args, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
    const child = this.#child;
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    this.#ended = new Promise((resolve) => {
      child.once('error', (error) => {
        this.#keep(`${program}: ${error.message}`);
        resolve();
      });
      child.once('exit', () => resolve());
    });
    void this.#ended.then(() => process.removeListener('exit', kill));
    this.#ready = new Promise((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        if (stream === null) continue;
        createInterface({ input: stream }).on('line', (line) => {
          this.#keep(line);
          if (line.includes(READY_LINE)) resolve();
        });
      }
      void this.#ended.then(() => reject(new Error(`the store ended before it served:\n${this.output}`)));
    });
    // A test that starts a process only to kill it never awaits `ready`.
    this.#ready.catch(() => {});
  }

  /** Starts a process and waits until it serves. */
  static async start(place: StorePlace, options: StoreOptions = {}): Promise<StoreProcess> {
    const store = new StoreProcess(place, options);
    try {
      await store.ready();
    } catch (error) {
      await store.kill();
      throw error;
    }
    return store;
  }

  /** host:port for clients. */
  get endpoint(): string {
    return `127.0.0.1:${this.place.clientPort}`;
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the store did not start');
    return this.#child.pid;
  }

  /** The last lines of the process's output. */
  get output(): string {
    return this.#lines.join('\n');
  }

  get running(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when the store serves. Rejects if the process ends first, or at the time limit. */
  async ready(): Promise<void> {
    await bounded('the store serves', START_MAX_MS, this.#ready).catch((error: unknown) => {
      throw new Error(`the store did not start; its last lines:\n${this.output}`, { cause: error });
    });
  }

  /** Kills the process with SIGKILL and waits for its end. */
  async kill(): Promise<void> {
    if (this.running) this.#child.kill('SIGKILL');
    await bounded('the store dies', STOP_MAX_MS, this.#ended);
  }

  /** Stops the process with SIGTERM, as an operator does. Rejects if it does not end by itself, or if it fails. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    try {
      await bounded('the store stops', STOP_MAX_MS, this.#ended);
    } finally {
      await this.kill();
    }
    // etcd raises the signal again after an orderly stop. Both are a clean end.
    if (this.#child.exitCode !== 0 && this.#child.signalCode !== 'SIGTERM') {
      throw new Error(`the store ended with ${this.#child.exitCode ?? this.#child.signalCode}:\n${this.output}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #keep(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES_MAX) this.#lines.splice(0, KEPT_LINES_MAX / 2);
  }
}

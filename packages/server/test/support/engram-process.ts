import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const engramPath = join(import.meta.dirname, '../../bin/engram');
const START_MAX_MS = 30_000;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly command?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const environment = (extra: RunOptions['env']): NodeJS.ProcessEnv => {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('ETCD_') && name !== 'NOTIFY_SOCKET');
  return { ...Object.fromEntries(own), ...extra };
};

/** Runs a process that is expected to end by itself. */
export async function run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const child = spawn(options.command ?? engramPath, args, {
    cwd: options.cwd,
    env: environment(options.env),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: START_MAX_MS,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  await once(child, 'close');
  return { code: child.exitCode, signal: child.signalCode, stdout, stderr };
}

/** A serving process on a free port of the loopback, with its data in its own folder. Disposal kills it if it still runs. */
export class Engram implements AsyncDisposable {
  readonly dataDir: string;
  readonly child: ChildProcess;
  readonly #keepData: boolean;
  #stderr = '';
  #seen = (): void => {};

  private constructor(child: ChildProcess, dataDir: string, keepData: boolean) {
    this.child = child;
    this.dataDir = dataDir;
    this.#keepData = keepData;
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      this.#stderr += text;
      this.#seen();
    });
    child.once('close', () => this.#seen());
  }

  static async start(
    args: readonly string[] = [],
    options: RunOptions & { dataDir?: string; defaults?: boolean; until?: string } = {},
  ): Promise<Engram> {
    const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'engram-server-'));
    const own = [
      '--data-dir',
      dataDir,
      '--listen-client-urls',
      'http://127.0.0.1:0',
      '--advertise-client-urls',
      'http://127.0.0.1:0',
    ];
    const child = spawn(options.command ?? engramPath, [...(options.defaults === false ? [] : own), ...args], {
      cwd: options.cwd,
      env: environment(options.env),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const engram = new Engram(child, dataDir, options.dataDir !== undefined);
    await engram.logged((line) => line['msg'] === (options.until ?? 'now serving'));
    return engram;
  }

  get stderr(): string {
    return this.#stderr;
  }

  get lines(): readonly Record<string, unknown>[] {
    return this.#stderr
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  /** The first matching log line. Rejects if the process ends without it. */
  async logged(wanted: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.lines.find(wanted);
      if (found !== undefined) return found;
      if (this.child.exitCode !== null || this.child.signalCode !== null) throw new Error(`ended: ${this.#stderr}`);
      await new Promise<void>((resolve) => {
        this.#seen = resolve;
      });
    }
  }

  /** The address for clients: "127.0.0.1:43211". */
  get address(): string {
    return String(this.lines.find(({ msg }) => msg === 'ready to serve client requests')?.['address']);
  }

  get port(): number {
    return Number(this.address.split(':').at(-1));
  }

  get url(): string {
    return `http://${this.address}`;
  }

  /** Sends the signal and waits for the end. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<{ code: number | null; tookMs: number }> {
    const startMs = performance.now();
    const closed = this.#ended() ? Promise.resolve() : once(this.child, 'close');
    this.child.kill(signal);
    await closed;
    return { code: this.child.exitCode, tookMs: performance.now() - startMs };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#ended()) await this.stop('SIGKILL');
    if (!this.#keepData) rmSync(this.dataDir, { recursive: true, force: true });
  }

  #ended(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }
}

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '../../test/support/free-port.ts';

/** A program and the arguments that stand before those of a member. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  /** In place of this process' environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const TOOL_MAX_MS = 60_000;
const START_MAX_MS = 60_000;

interface ToolOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The tool is killed, and the call rejects, after this time. A minute if absent. */
  readonly withinMs?: number;
}

/** Resolves with stdout. Rejects with what the tool said if it does not end with 0. */
export async function tool(program: string, args: readonly string[], options: ToolOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await tool.ends(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}

tool.ends = (
  program: string,
  args: readonly string[],
  { cwd, env, withinMs = TOOL_MAX_MS }: ToolOptions = {},
): Promise<Ended> => {
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  const options = {
    cwd,
    timeout: withinMs,
    ...(env === undefined ? {} : { env: { PATH: process.env['PATH'], ...env } }),
  };
  execFile(program, args, options, (error, stdout, stderr) => {
    if (error !== null && typeof error.code !== 'number') reject(error);
    else resolve({ code: Number(error?.code ?? 0), stdout, stderr });
  });
  return promise;
};

/** A process that serves; disposal kills it if it still runs. */
export class Member implements AsyncDisposable {
  readonly client: string;
  readonly metrics: string;
  readyMs = 0;
  readonly #child: ChildProcess;
  readonly #command: Command;
  #said = '';

  private constructor(command: Command, args: readonly string[], client: string, metrics: string) {
    this.client = client;
    this.metrics = metrics;
    this.#command = command;
    this.#child = spawn(command.program, [...command.args, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...(command.env === undefined ? process.env : { PATH: process.env['PATH'], ...command.env }) },
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text) => {
      this.#said += text;
    });
  }

  static async start(command: Command, dataDir: string): Promise<Member> {
    const [client, metrics] = (await freePorts(2)).map((port) => `http://127.0.0.1:${port}`) as [string, string];
    const urls = ['--listen-client-urls', client, '--advertise-client-urls', client, '--listen-metrics-urls', metrics];
    return Member.startWith(command, ['--data-dir', dataDir, ...urls], { client, metrics });
  }

  /** With flags of its own, which have to say these URLs. */
  static async startWith(
    command: Command,
    args: readonly string[],
    { client, metrics }: { readonly client: string; readonly metrics: string },
  ): Promise<Member> {
    const member = new Member(command, args, client, metrics);
    await member.#ready(`${metrics}/readyz`);
    return member;
  }

  static async startEtcd(etcd: string, dataDir: string, clientPort: number, peerPort: number): Promise<Member> {
    const [client, peer] = [`http://127.0.0.1:${clientPort}`, `http://127.0.0.1:${peerPort}`];
    const urls = ['--listen-client-urls', client, '--advertise-client-urls', client, '--listen-peer-urls', peer];
    const cluster = ['--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`];
    const member = new Member(
      { program: etcd, args: [] },
      ['--data-dir', dataDir, ...urls, ...cluster],
      client,
      client,
    );
    await member.#ready(`${client}/readyz`);
    return member;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get healthArgs(): readonly string[] {
    return ['health', '--listen-metrics-urls', this.metrics];
  }

  health(): Promise<string> {
    return tool(this.#command.program, [...this.#command.args, ...this.healthArgs], this.#command);
  }

  residentMiB(): number {
    return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1]) / 1024);
  }

  async stop(): Promise<number | null> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
    return this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  async #ready(url: string): Promise<void> {
    const begin = performance.now();
    for (;;) {
      const answer = await fetch(url).catch(() => undefined);
      if (answer?.status === 200) break;
      if (this.#child.exitCode !== null || performance.now() - begin > START_MAX_MS) {
        this.#child.kill('SIGKILL');
        throw new Error(`${this.#command.program} does not serve: ${this.#said}`);
      }
      await pause(10);
    }
    this.readyMs = Math.round(performance.now() - begin);
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProgramParts, runProgram } from '@engram/engramctl';

const engramPath = join(import.meta.dirname, '../../../server/bin/engram');
export const engramctlPath = join(import.meta.dirname, '../../bin/engramctl');
const START_MAX_MS = 50_000;

/** Bounds for what answers: a busy machine is no failure. */
export const PATIENT = ['--dial-timeout=30s', '--command-timeout=30s'];

const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^ETCD(CTL)?_|^NOTIFY_SOCKET$/.test(name)));

/** A member on a free port of the loopback, with its data in its own folder. Disposal kills it. */
export class Engram implements AsyncDisposable {
  readonly dataDir: string;
  readonly #child: ChildProcess;
  #stderr = '';
  #seen = (): void => {};

  private constructor(child: ChildProcess, dataDir: string) {
    this.#child = child;
    this.dataDir = dataDir;
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      this.#stderr += text;
      this.#seen();
    });
    child.once('close', () => this.#seen());
  }

  /** `program`: what runs a member with the flags behind it. */
  static async start(args: readonly string[] = [], scheme = 'http', program = [engramPath]): Promise<Engram> {
    const dataDir = mkdtempSync(join(tmpdir(), 'engramctl-member-'));
    const url = `${scheme}://127.0.0.1:0`;
    const own = ['--data-dir', dataDir, '--listen-client-urls', url, '--advertise-client-urls', url];
    const [command, ...before] = program;
    const child = spawn(command!, [...before, ...own, ...args], {
      env: environment(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const engram = new Engram(child, dataDir);
    await engram.#logged('now serving');
    return engram;
  }

  /** "127.0.0.1:43211". */
  get address(): string {
    return String(this.#line('ready to serve client requests')?.['address']);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const closed = once(this.#child, 'close');
      this.#child.kill('SIGKILL');
      await closed;
    }
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  #line(message: string): Record<string, unknown> | undefined {
    const lines = this.#stderr.split('\n').slice(0, -1);
    return lines.map((line): Record<string, unknown> => JSON.parse(line)).find(({ msg }) => msg === message);
  }

  async #logged(message: string): Promise<void> {
    while (this.#line(message) === undefined) {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) throw new Error(`ended: ${this.#stderr}`);
      await new Promise<void>((resolve) => {
        this.#seen = resolve;
      });
    }
  }
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The program in this process: what it prints, and its exit code. */
export async function ctl(args: readonly string[], parts: Partial<ProgramParts> = {}): Promise<Ended> {
  let [out, err] = ['', ''];
  const code = await runProgram(args, {
    environment: {},
    printer: {
      out: async (text) => {
        out += text;
      },
      note: async (text) => {
        err += text;
      },
    },
    askPassword: () => Promise.reject(new Error('a password is asked for')),
    nowMs: Date.now,
    signal: new AbortController().signal,
    ...parts,
  });
  return { code, out, err };
}

/** The program as a process of its own, by its launcher. */
export async function ctlProcess(args: readonly string[], input = ''): Promise<Ended> {
  const child = spawn(engramctlPath, args, {
    env: environment(),
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: START_MAX_MS,
    killSignal: 'SIGKILL',
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (err += text));
  child.stdin.end(input);
  await once(child, 'close');
  return { code: child.exitCode, out, err };
}

/** A port of the loopback that takes connections and never says anything, or (`open: false`) at which nobody listens. */
export class SilentPort implements AsyncDisposable {
  readonly address: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, address: string) {
    this.#server = server;
    this.address = address;
  }

  static async listen({ open = true } = {}): Promise<SilentPort> {
    const server = createServer((socket) => {
      port.#sockets.add(socket);
      socket.on('error', () => {}).resume();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const bound = server.address();
    if (bound === null || typeof bound === 'string') throw new Error('no port');
    const port = new SilentPort(server, `127.0.0.1:${bound.port}`);
    if (!open) await port[Symbol.asyncDispose]();
    return port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

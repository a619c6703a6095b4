import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const KEPT_LINES_MAX = 50;
const END_MAX_MS = 5_000;

export interface ProgramOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Gets each line of its output. */
  readonly onLine?: (line: string, program: Program) => void;
}

/** A program beside the store. It ends at disposal, and with this process. */
export class Program implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #lines: string[] = [];
  readonly #closed: Promise<unknown>;

  constructor(path: string, args: readonly string[], { environment = {}, cwd, onLine }: ProgramOptions = {}) {
    this.#child = spawn(path, args, {
      env: { ...process.env, ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(cwd === undefined ? {} : { cwd }),
    });
    const child = this.#child;
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    this.#closed = once(child, 'close')
      .catch((error: unknown) => this.#keep(String(error)))
      .finally(() => process.removeListener('exit', kill));
    // One that does not read its input closes it.
    child.stdin.on('error', () => {});
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.#keep(line);
        if (stream === child.stdout) onLine?.(line, this);
      });
    }
  }

  /** Runs a program to its end. Rejects with its output if that is not a success, or does not come. */
  static async run(path: string, args: readonly string[], maxMs: number, options?: ProgramOptions): Promise<string> {
    await using program = new Program(path, args, options);
    const code = await program.end(maxMs);
    if (code === 0) return program.output;
    throw new Error(`${path} ${args.join(' ')}: ${code ?? `no end within ${maxMs} ms`}:\n${program.output}`);
  }

  /** The last lines of its output and its errors. */
  get output(): string {
    return this.#lines.join('\n');
  }

  say(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /** Its exit code or signal; undefined if it goes on for longer. */
  async end(maxMs: number): Promise<number | string | undefined> {
    const cut = new AbortController();
    const ended = await Promise.race([
      this.#closed.then(() => true),
      sleep(maxMs, false, { signal: cut.signal }).catch(() => false),
    ]);
    cut.abort();
    return ended ? (this.#child.exitCode ?? this.#child.signalCode ?? 'not started') : undefined;
  }

  /** By SIGTERM, and by SIGKILL if that does not help. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) break;
      this.#child.kill(signal);
      await this.end(END_MAX_MS);
    }
  }

  #keep(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES_MAX) this.#lines.shift();
  }
}

/** Looks until it is so; the last failure is the reason if it never is. */
export async function until(what: string, maxMs: number, look: () => Promise<boolean>): Promise<void> {
  let why: unknown;
  for (const endMs = performance.now() + maxMs; performance.now() < endMs; await sleep(50)) {
    try {
      if (await look()) return;
      why = undefined;
    } catch (error) {
      why = error;
    }
  }
  throw new Error(`${what}: not within ${maxMs} ms${why === undefined ? '' : `: ${String(why)}`}`);
}

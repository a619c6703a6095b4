import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { bounded } from '../../test/support/bounded.ts';

const TOOL_MAX_MS = 120_000;
/** More would be a tool that has gone wrong. */
const OUTPUT_BYTES_MAX = 4 << 20;

/** A program, and its name for messages. */
export interface Tool {
  readonly name: 'etcdctl' | 'etcdutl';
  readonly path: string;
}

/** How a tool ended, and what it wrote. */
export interface Ended {
  /** The exit code, or the name of the signal. */
  readonly end: number | string;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Those that end with this process. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A tool that runs. It has no environment of the caller's, which could have flags in it. */
export class RunningTool {
  readonly #what: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #stdout: Buffer[] = [];
  readonly #stderr: Buffer[] = [];
  readonly #ended = Promise.withResolvers<number | string>();
  #over = false;
  #bytes = 0;
  #onOutput: () => void = () => {};

  constructor(tool: Tool, args: readonly string[]) {
    this.#what = `${tool.name} ${args.join(' ')}`;
    const child = spawn(tool.path, args, {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    // A tool that does not read its input closes it.
    child.stdin.on('error', () => {});
    child.stdout.on('data', (piece: Buffer) => this.#take(this.#stdout, piece));
    child.stderr.on('data', (piece: Buffer) => this.#take(this.#stderr, piece));
    child.once('error', (error) => this.#ended.reject(error));
    child.once('close', (code, signal) => {
      this.#over = true;
      this.#ended.resolve(code ?? signal ?? 'nothing');
      this.#onOutput();
    });
    this.#ended.promise.catch(() => {});
    running.add(child);
  }

  /** Writes to its input, which stays open. */
  write(text: string | Uint8Array): void {
    this.#child.stdin.write(text);
  }

  closeInput(): void {
    this.#child.stdin.end();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Waits until its output or its errors match, or until it has ended. */
  async until(pattern: RegExp): Promise<void> {
    await this.#bounded(
      `shows ${pattern.source}`,
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (this.#over || pattern.test(`${this.#text(this.#stdout)}\n${this.#text(this.#stderr)}`)) resolve();
        };
        this.#onOutput = look;
        look();
      }),
    );
  }

  async ended(): Promise<Ended> {
    const end = await this.#bounded('ends', this.#ended.promise);
    running.delete(this.#child);
    return { end, stdout: Buffer.concat(this.#stdout), stderr: this.#text(this.#stderr) };
  }

  readonly #killed = (): void => {
    this.#child.kill('SIGKILL');
  };

  async #bounded<Value>(does: string, work: Promise<Value>): Promise<Value> {
    try {
      return await bounded(`${this.#what} ${does}`, TOOL_MAX_MS, work);
    } catch (error) {
      this.#killed();
      throw new Error(`it wrote: ${this.#text(this.#stdout)}${this.#text(this.#stderr)}`, { cause: error });
    }
  }

  #take(pieces: Buffer[], piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > OUTPUT_BYTES_MAX) this.#killed();
    else pieces.push(piece);
    this.#onOutput();
  }

  readonly #text = (pieces: readonly Buffer[]): string => Buffer.concat(pieces).toString('latin1');
}

/** What a tool writes that is expected to succeed. */
export async function toolOutput(tool: Tool, args: readonly string[]): Promise<string> {
  const started = new RunningTool(tool, args);
  started.closeInput();
  const { end, stdout, stderr } = await started.ended();
  if (end !== 0) throw new Error(`${tool.name} ${args.join(' ')}: ${end}: ${stderr}`);
  return stdout.toString();
}

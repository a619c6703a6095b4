import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { type Outcome, parseOutcome } from './outcome.ts';
import { loadgen } from './programs.ts';

const RUN_MAX_S = 3_600;
const PREPARED = '{"prepared":true}';

/** A load generator that stays connected, and loads in blocks when it is told to. Disposal ends it. */
export class LoadBlocks implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  readonly #kill = (): void => void this.#child.kill('SIGKILL');
  #prepared = false;

  /** Loads `target` in at most `count` blocks of what `args` say. */
  constructor(target: string, count: number, args: readonly string[]) {
    const flags = ['--target', target, '--pause', `--blocks=${count}`, `--timeout=${RUN_MAX_S}s`, ...args];
    this.#child = spawn(loadgen(), flags, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    process.once('exit', this.#kill);
  }

  /** Waits until it is warm and connected, so that the next block begins at once. Throws if it has ended. */
  async prepare(): Promise<void> {
    while (!this.#prepared) this.#prepared = (await this.#line()) === PREPARED;
  }

  async block(): Promise<Outcome> {
    await this.prepare();
    this.#prepared = false;
    this.#child.stdin.write('\n');
    for (;;) {
      const outcome = parseOutcome(await this.#line());
      if (outcome !== undefined) return outcome;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.removeListener('exit', this.#kill);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#kill();
    await ended;
  }

  async #line(): Promise<string> {
    const { done, value } = await this.#lines.next();
    if (done === true) throw new Error('the load generator has ended');
    return value;
  }
}

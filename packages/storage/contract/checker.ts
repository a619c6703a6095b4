import { type ChildProcess, fork } from 'node:child_process';
import type { CheckAnswer, CheckRequest } from './answer-checks.ts';

/**
 * Checks directories in a child process, whose module calls `answerChecks`. The checker survives if that process dies.
 */
export class Checker implements Disposable {
  readonly #module: URL;
  #child: ChildProcess | undefined;

  constructor(module: URL) {
    this.#module = module;
  }

  /** The result is 'died: ...' if the child process died. One call at a time. */
  check(request: CheckRequest): Promise<CheckAnswer> {
    this.#child ??= fork(this.#module, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], execArgv: [] });
    const child = this.#child;
    let text = '';
    return new Promise((resolve) => {
      const onText = (bytes: Buffer): void => {
        text += bytes.toString();
      };
      child.stderr?.on('data', onText);
      const onExit = (_code: number | null, signal: string | null): void => {
        this.#child = undefined;
        resolve({ result: `died: ${signal} ${text}`, warnings: [] });
      };
      // 'close', not 'exit': all output has been read by then.
      child.once('close', onExit);
      child.once('message', (answer: CheckAnswer) => {
        child.off('close', onExit);
        child.stderr?.off('data', onText);
        resolve(answer);
      });
      child.send(request);
    });
  }

  [Symbol.dispose](): void {
    this.#child?.kill();
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Probed, readProbed } from './probed.ts';

/** A modest client of a store, in a process of its own (`prober.ts`). */
export class Prober {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** `endpoint` is of the process `pid`. The client waits `intervalMs` behind each answer. It has had its first answer. */
  static async start(endpoint: string, pid: number, intervalMs: number): Promise<Prober> {
    const file = join(import.meta.dirname, 'prober.ts');
    const child = spawn(process.execPath, [file, endpoint, String(intervalMs), String(pid)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout!, 'data');
    return new Prober(child);
  }

  async end(): Promise<Probed> {
    let text = '';
    this.#child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGTERM');
    await closed;
    return readProbed(text);
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What a greedy client has had. */
export interface Had {
  readonly lists: number;
  readonly bytes: number;
  readonly failures: number;
  readonly seconds: number;
}

/** A greedy client of a store, in a process of its own (`greedy.ts`). */
export class Greedy {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** It has so many lists in flight, and has had its first answer. */
  static async start(port: number, lists: number, prefix: string): Promise<Greedy> {
    const file = join(import.meta.dirname, 'greedy.ts');
    const child = spawn(process.execPath, [file, String(port), String(lists), prefix], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.removeListener('exit', kill));
    await Promise.race([
      once(child.stdout!, 'data'),
      once(child, 'exit').then(() => Promise.reject(new Error('a greedy client ended at its start'))),
    ]);
    return new Greedy(child);
  }

  /** Counts from now on. */
  count(): void {
    this.#child.kill('SIGUSR2');
  }

  async end(): Promise<Had> {
    let text = '';
    this.#child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGTERM');
    await closed;
    const said: unknown = JSON.parse(text);
    const fields = new Map<string, unknown>(typeof said === 'object' && said !== null ? Object.entries(said) : []);
    const number = (name: keyof Had): number => Number(fields.get(name));
    return { lists: number('lists'), bytes: number('bytes'), failures: number('failures'), seconds: number('seconds') };
  }
}

/** How far two greedy clients are from equal shares: 0 if each had as much, 0.1 if one had a tenth more than the other. */
export function unequal(one: Had, other: Had): number {
  const rates = [one.bytes / one.seconds, other.bytes / other.seconds];
  return Math.max(...rates) / Math.min(...rates) - 1;
}

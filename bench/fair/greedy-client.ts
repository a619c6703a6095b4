import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What a greedy client has had. */
export interface Had {
  readonly lists: number;
  readonly bytes: number;
  readonly failures: number;
  readonly seconds: number;
  /** The cores that the client itself has used. */
  readonly cores: number;
}

/** A process that counts what it does, from `count` until `end`, and tells it as JSON. */
class Counting {
  readonly #child: ChildProcess;

  protected constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Starts a script of this folder. It has said that it works. */
  protected static async spawn(script: string, args: readonly (string | number)[]): Promise<ChildProcess> {
    const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args.map(String)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.removeListener('exit', kill));
    await Promise.race([
      once(child.stdout!, 'data'),
      once(child, 'exit').then(() => Promise.reject(new Error(`${script} ended at its start`))),
    ]);
    return child;
  }

  /** Counts from now on. */
  count(): void {
    this.#child.kill('SIGUSR2');
  }

  protected async told(): Promise<(name: string) => number> {
    let text = '';
    this.#child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGTERM');
    await closed;
    const said: unknown = JSON.parse(text);
    const fields = new Map<string, unknown>(typeof said === 'object' && said !== null ? Object.entries(said) : []);
    return (name) => Number(fields.get(name));
  }
}

/** A greedy client of a store, in a process of its own (`greedy.ts`). */
export class Greedy extends Counting {
  /** It has so many lists in flight, and has had its first answer. */
  static async start(port: number, lists: number, prefix: string, nice: number): Promise<Greedy> {
    return new Greedy(await Counting.spawn('greedy.ts', [port, lists, prefix, nice]));
  }

  async end(): Promise<Had> {
    const number = await this.told();
    const [lists, bytes, failures] = [number('lists'), number('bytes'), number('failures')];
    return { lists, bytes, failures, seconds: number('seconds'), cores: number('cores') };
  }
}

/** Uses as much of the machine as a greedy client does, and nothing of the store (`burner.ts`). */
export class Burner extends Counting {
  static async start(cores: number, nice: number): Promise<Burner> {
    return new Burner(await Counting.spawn('burner.ts', [cores, nice]));
  }

  /** The cores that it has used. */
  async end(): Promise<number> {
    return (await this.told())('cores');
  }
}

/** How far two greedy clients are from equal shares: 0 if each had as much, 0.1 if one had a tenth more than the other. */
export function unequal(one: Had, other: Had): number {
  const rates = [one.bytes / one.seconds, other.bytes / other.seconds];
  return Math.max(...rates) / Math.min(...rates) - 1;
}

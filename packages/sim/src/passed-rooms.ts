import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

// Which rooms of the code a call passes, by what V8 counts, and what docs/ARCHITECTURE.md says of it.

const WORDS = ['core', 'loop', 'protobuf', 'wire', 'coder', 'http2', 'storage', 'telemetry', 'server', 'sim'];
/** What other work does meanwhile is not in each of so many repetitions. */
const TIMES = 6;

const architecture = readFileSync(join(import.meta.dirname, '../../../docs/ARCHITECTURE.md'), 'utf8');

/** The rooms that the page names for a path, sorted. */
export function namedRooms(path: string): readonly string[] {
  const row = architecture.split('\n').find((line) => line.startsWith(`| ${path} |`));
  if (row === undefined) throw new Error(`docs/ARCHITECTURE.md has no path ${path}`);
  return [...new Set([...row.matchAll(/`([^`]+)`/g)].map(([, room]) => room!))].sort();
}

/** Counts the calls of functions in this process. */
export class PassedRooms implements Disposable {
  readonly #session = new Session();

  static async begin(): Promise<PassedRooms> {
    const rooms = new PassedRooms();
    rooms.#session.connect();
    await rooms.#session.post('Profiler.enable');
    await rooms.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    return rooms;
  }

  /** The rooms in which a function ran since the last call. */
  async take(): Promise<ReadonlySet<string>> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    const rooms = new Set<string>();
    for (const { url, functions } of result) {
      const [, name, folder] = /\/packages\/([^/]+)\/src\/(?:([^/]+)\/)?[^?]*$/.exec(url) ?? [];
      if (name === undefined || WORDS.includes(name)) continue;
      if (functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0]!.count > 0))
        rooms.add(name === 'backend' && folder !== undefined ? `backend/${folder}` : name);
    }
    return rooms;
  }

  /** The rooms that every repetition of the call has passed. */
  async of(call: () => Promise<unknown>, times = TIMES): Promise<readonly string[]> {
    let common: ReadonlySet<string> | undefined;
    for (let time = 0; time < times; time += 1) {
      await this.take();
      await call();
      const passed = await this.take();
      common = common === undefined ? passed : new Set([...common].filter((room) => passed.has(room)));
    }
    return [...common!].sort();
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
  }
}

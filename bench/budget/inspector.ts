import { bounded } from '../../test/support/bounded.ts';
import type { CpuProfile } from './profile.ts';

const CALL_MAX_MS = 60_000;

/** Queries a process that was started with `--inspect`, over its WebSocket. */
export class Inspector implements Disposable {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #calls = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const answer: unknown = JSON.parse(String(data));
      if (!isRecord(answer) || typeof answer['id'] !== 'number') return;
      this.#waiting.get(answer['id'])?.(answer['result']);
      this.#waiting.delete(answer['id']);
    });
  }

  static async connect(port: number): Promise<Inspector> {
    const response = await fetch(`http://127.0.0.1:${port}/json/list`, { signal: AbortSignal.timeout(CALL_MAX_MS) });
    const targets: unknown = await response.json();
    const target: unknown = Array.isArray(targets) ? targets[0] : undefined;
    if (!isRecord(target) || typeof target['webSocketDebuggerUrl'] !== 'string') throw new Error('nothing to inspect');
    const socket = new WebSocket(target['webSocketDebuggerUrl']);
    const open = new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error('the inspector refuses')));
    });
    await bounded('the inspector answers', CALL_MAX_MS, open);
    return new Inspector(socket);
  }

  async startProfile(): Promise<void> {
    await this.#call('Profiler.enable');
    await this.#call('Profiler.setSamplingInterval', { interval: 500 });
    await this.#call('Profiler.start');
  }

  async stopProfile(): Promise<CpuProfile> {
    const result = await this.#call('Profiler.stop');
    const profile = isRecord(result) ? result['profile'] : undefined;
    if (!isProfile(profile)) throw new Error('the inspector gave no profile');
    return profile;
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  #call(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    this.#calls += 1;
    const id = this.#calls;
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params }));
    return bounded(method, CALL_MAX_MS, answer);
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const isProfile = (value: unknown): value is CpuProfile =>
  isRecord(value) &&
  Array.isArray(value['nodes']) &&
  Array.isArray(value['samples']) &&
  Array.isArray(value['timeDeltas']);

import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdClient, type EtcdClientOptions, EtcdError } from '../../test/support/etcd-client.ts';

const WRITES_MAX_MS = 120_000;

export interface Acknowledged {
  readonly key: string;
  readonly value: string;
  readonly revision: number;
}

/** Formats the quantiles of some durations. */
export function spread(durationsMs: readonly number[]): string {
  const sorted = durationsMs.toSorted((left, right) => left - right);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${sorted.at(-1) ?? 0} ms of ${sorted.length}`;
}

export interface LoadOptions {
  readonly deadlineMs?: number;
  /** The pause of a client between two writes. */
  readonly betweenMs?: number;
}

/** Clients that write each key once, one request at a time, each at one endpoint. Records the outcomes. */
export class Load {
  readonly acknowledged: Acknowledged[] = [];
  /** The times of acknowledgements, in the order of the answers. */
  readonly times: number[] = [];
  uncertain = 0;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  #number = 0;

  readonly #options: LoadOptions;

  constructor(endpoints: readonly string[], writersEach: number, options: LoadOptions = {}) {
    this.#options = options;
    for (const endpoint of endpoints) {
      for (let writer = 0; writer < writersEach; writer += 1) this.#running.push(this.#write(endpoint));
    }
  }

  async #write(endpoint: string): Promise<void> {
    const { deadlineMs, betweenMs } = this.#options;
    using client = new EtcdClient(endpoint, deadlineMs === undefined ? {} : { deadlineMs });
    while (!this.#stop.signal.aborted) {
      if (betweenMs !== undefined) await sleep(betweenMs);
      this.#number += 1;
      const key = `load/${this.#number}`;
      try {
        const answer = await client.put({ key: Buffer.from(key), value: Buffer.from(endpoint) });
        this.acknowledged.push({ key, value: endpoint, revision: Number(answer.header?.revision ?? 0) });
        this.times.push(performance.now());
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        this.uncertain += 1;
        await sleep(20);
      }
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  /** The longest time without an acknowledged write, from `fromMs` to `withinMs` after it. */
  longestPauseMs(fromMs: number, withinMs: number): number {
    let last = fromMs;
    let longest = 0;
    for (const time of this.times) {
      if (time < fromMs) continue;
      if (time > fromMs + withinMs) break;
      longest = Math.max(longest, time - last);
      last = time;
    }
    return longest;
  }

  /** Rejects if this many writes are not acknowledged in time. */
  async until(count: number): Promise<void> {
    for (const endMs = performance.now() + WRITES_MAX_MS; this.acknowledged.length < count; await sleep(10)) {
      if (performance.now() < endMs) continue;
      const outcome = `${this.acknowledged.length} writes acknowledged, ${this.uncertain} not`;
      throw new Error(`not ${count} writes within ${WRITES_MAX_MS} ms: ${outcome}`);
    }
  }
}

/**
 * Clients that know all endpoints and write and read in turn. A failed request is retried once at the next endpoint, as
 * a client of several endpoints does. Each write has its own key.
 */
export class RetryingClients {
  requests = 0;
  retries = 0;
  /** The errors of requests whose retry failed too. */
  readonly failures: string[] = [];
  readonly #stop = new AbortController();
  readonly #running: readonly Promise<void>[];

  constructor(endpoints: readonly string[], clients: number) {
    this.#running = Array.from({ length: clients }, (_, at) => this.#run(endpoints, at));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  async #run(endpoints: readonly string[], client: number): Promise<void> {
    const connections = endpoints.map((endpoint) => new EtcdClient(endpoint));
    let at = client % endpoints.length;
    try {
      for (let turn = 0; !this.#stop.signal.aborted; turn += 1) {
        this.requests += 1;
        for (let attempt = 1; attempt <= 2; attempt += 1) {
          const failure = await this.#request(connections[at]!, `retrying/${client}/${turn}/${attempt}`);
          if (failure === undefined) break;
          at = (at + 1) % endpoints.length;
          if (attempt === 1) this.retries += 1;
          else this.failures.push(failure);
        }
        await sleep(5);
      }
    } finally {
      for (const connection of connections) connection[Symbol.dispose]();
    }
  }

  /** Returns the error, or undefined. */
  async #request(connection: EtcdClient, key: string): Promise<string | undefined> {
    try {
      await connection.put({ key: Buffer.from(key), value: Buffer.from('v') });
      await connection.range({ key: Buffer.from(key) });
      return undefined;
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      return String(error);
    }
  }
}

/** Watches all keys from revision 1 on, and resumes after its stream breaks, as clients do. */
export class Watcher {
  readonly revisions: number[] = [];
  breaks = 0;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(endpoint: string, options: EtcdClientOptions = {}) {
    this.#running = this.#run(endpoint, options);
  }

  get last(): number {
    return this.revisions.at(-1) ?? 1;
  }

  async #run(endpoint: string, options: EtcdClientOptions): Promise<void> {
    using client = new EtcdClient(endpoint, options);
    while (!this.#stop.signal.aborted) {
      try {
        const create = { key: Uint8Array.of(0), rangeEnd: Uint8Array.of(0), startRevision: this.last + 1 };
        for await (const { events, canceled } of client.watch(create, this.#stop.signal)) {
          for (const event of events) {
            const at = Number(event.kv?.modRevision ?? 0);
            if (this.revisions.at(-1) !== at) this.revisions.push(at);
          }
          if (canceled) break;
        }
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
      }
      if (this.#stop.signal.aborted) return;
      this.breaks += 1;
      await sleep(50);
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

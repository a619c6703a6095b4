import { setTimeout as sleep } from 'node:timers/promises';
import { ALL_KEYS, type ClientTls, EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';
import type { Acknowledged } from './load.ts';

const BETWEEN_MS = 20;
const WRITES_MAX_MS = 60_000;

/** A client that writes each key once, each by a new connection, at one member after another. */
export class SecuredWriter {
  readonly acknowledged: Acknowledged[] = [];
  readonly failures: string[] = [];
  /** What the next connection is made with. */
  #tls: ClientTls;
  #begun = 0;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(endpoints: readonly string[], tls: ClientTls) {
    this.#tls = tls;
    this.#running = this.#run(endpoints);
  }

  async #run(endpoints: readonly string[]): Promise<void> {
    for (let at = 0; !this.#stop.signal.aborted; at += 1) {
      const endpoint = endpoints[at % endpoints.length]!;
      const key = `secured/${at}`;
      using client = new EtcdClient(endpoint, { tls: this.#tls });
      this.#begun += 1;
      try {
        const { header } = await client.put({ key: Buffer.from(key), value: Buffer.from(endpoint) });
        this.acknowledged.push({ key, value: endpoint, revision: Number(header?.revision ?? 0) });
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        this.failures.push(`${endpoint}: ${error.message}`);
      }
      await sleep(BETWEEN_MS);
    }
  }

  /**
   * Makes connections with this from now on, and resolves once none is left that was made with what was used before: a client that
   * trusts an old authority alone, and connects while the members change over to a new one, refuses them.
   */
  async use(tls: ClientTls): Promise<void> {
    this.#tls = tls;
    const begun = this.#begun;
    for (const endMs = performance.now() + WRITES_MAX_MS; this.#begun === begun; await sleep(10))
      if (performance.now() > endMs) throw new Error('a write does not end');
  }

  /** Rejects if this many writes are not acknowledged in time. */
  async until(count: number): Promise<void> {
    for (const endMs = performance.now() + WRITES_MAX_MS; this.acknowledged.length < count; await sleep(10))
      if (performance.now() > endMs) throw new Error(`no writes: ${this.failures.slice(-3).join('; ')}`);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Rejects if a member lacks an acknowledged write. */
  async isKept(endpoint: string, tls: ClientTls): Promise<void> {
    using client = new EtcdClient(endpoint, { tls });
    const { kvs } = await client.range({ ...ALL_KEYS });
    const found = new Map(kvs.map(({ key, modRevision }) => [Buffer.from(key).toString(), Number(modRevision)]));
    const lost = this.acknowledged.filter(({ key, revision }) => found.get(key) !== revision);
    if (lost.length > 0) throw new Error(`${endpoint} has lost ${JSON.stringify(lost.slice(0, 5))}`);
  }
}

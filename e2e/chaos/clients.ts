import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';
import type { Recorder } from '../../test/linearizability/record.ts';

const BETWEEN_CALLS_MS = 10;

/** Clients whose calls are recorded. Each client calls one member, one call at a time. */
export class RecordedClients {
  /** The number of calls with an answer. */
  answered = 0;
  readonly #stop = new AbortController();
  readonly #running: readonly Promise<void>[];

  constructor(recorder: Recorder, endpoints: readonly string[], only?: 'get') {
    this.#running = endpoints.map((endpoint) => this.#run(recorder, endpoint, only));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  async #run(recorder: Recorder, endpoint: string, only: 'get' | undefined): Promise<void> {
    using client = new EtcdClient(endpoint, { deadlineMs: 3000 });
    while (!this.#stop.signal.aborted) {
      try {
        if (await recorder.call(client, only)) this.answered += 1;
      } catch (error) {
        // Refused: the call has had no effect.
        if (!(error instanceof EtcdError)) throw error;
      }
      await sleep(BETWEEN_CALLS_MS);
    }
  }
}

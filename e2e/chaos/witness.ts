import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';

export interface Seen {
  readonly revision: number;
  readonly key: string;
  readonly value: string;
  readonly deleted: boolean;
  readonly atMs: number;
}

/**
 * Watches all keys from the first revision on, and resumes after its stream breaks: at one member after another as
 * clients do, or always at the same one. Checks each answer by etcd's guarantees: ordered, unique, complete.
 */
export class Witness {
  readonly name: string;
  readonly violations: string[] = [];
  /** For each revision, a checksum of all events up to it. */
  readonly checksums: number[] = [0, 0];
  breaks = 0;
  readonly #endpoints: readonly string[];
  readonly #onSeen: (seen: Seen) => void;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(name: string, endpoints: readonly string[], onSeen: (seen: Seen) => void = () => {}) {
    this.name = name;
    this.#endpoints = endpoints;
    this.#onSeen = onSeen;
    this.#running = this.#run();
  }

  get last(): number {
    return this.checksums.length - 1;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let at = 0; !this.#stop.signal.aborted; at += 1) {
      using client = new EtcdClient(this.#endpoints[at % this.#endpoints.length]!);
      try {
        const create = { key: Uint8Array.of(0), rangeEnd: Uint8Array.of(0), startRevision: this.last + 1 };
        for await (const answer of client.watch(create, this.#stop.signal)) {
          if (answer.compactRevision > 0) this.violations.push(`compacted at ${answer.compactRevision}`);
          if (answer.canceled) break;
          this.#take(
            answer.events.map(({ type, kv }) => ({
              revision: Number(kv?.modRevision ?? 0),
              key: Buffer.from(kv?.key ?? []).toString(),
              value: Buffer.from(kv?.value ?? []).toString(),
              deleted: type === 1,
              atMs: performance.now(),
            })),
          );
        }
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
      }
      if (this.#stop.signal.aborted) return;
      this.breaks += 1;
      await sleep(50);
    }
  }

  /** The events of one answer: whole revisions, in order. */
  #take(events: readonly Seen[]): void {
    const before = this.last;
    let keys = new Set<string>();
    for (const seen of events) {
      const { revision, key } = seen;
      if (revision === this.last + 1) {
        this.checksums.push(this.checksums[this.last]!);
        keys = new Set();
      } else if (revision !== this.last || revision === before || keys.has(key)) {
        this.violations.push(`revision ${revision} of ${key} came after ${this.last}`);
        return;
      }
      keys.add(key);
      this.checksums[revision] = crc32(`${seen.deleted} ${key} ${seen.value}`, this.checksums[revision]);
      this.#onSeen(seen);
    }
  }
}

import { logPosition, type Seal } from '@engram/core';
import { Prng, quiet, Scheduler, SimClock } from '@engram/sim';
import type { LogBatch, Storage } from '@engram/storage';
import { never, sealOf } from '@engram/storage/testing';
import { LogKeys, openRoot, openTikvStorage, type TikvStorage, type TikvStorageOptions } from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import { type CommandName, FakeCluster, type Fault } from '@engram/tikv-client/testing';
import { onTestFinished } from 'vitest';
import type { StoppableProcess } from './stopping.ts';

export const first = sealOf(1);
export const at = logPosition;

/** A record that holds `value`. */
export const record = (value: number, length = 8): Uint8Array => {
  const bytes = Buffer.alloc(length);
  bytes.writeUInt32LE(value);
  return new Uint8Array(bytes.buffer, bytes.byteOffset, length);
};

/** The records from `first` to `last`, each with its position in it. */
export const batchOf = (first: number, last = first, length = 8): LogBatch => ({
  first: at(first),
  records: Array.from({ length: last - first + 1 }, (_, index) => record(first + index, length)),
});

/** A cluster of stores whose time passes only inside `run`, and the nodes on it, each with a client of its own. */
export class SimBed {
  readonly scheduler = new Scheduler();
  readonly clock = new SimClock({ scheduler: this.scheduler, wallMs: 1_700_000_000_000 });
  readonly cluster = new FakeCluster({ clock: this.clock });
  readonly keys = new LogKeys('test');
  #seed = 1;

  constructor() {
    onTestFinished(() => {
      if (this.cluster.refusal !== undefined) throw this.cluster.refusal;
    });
  }

  run<Value>(promise: Promise<Value>): Promise<Value> {
    return this.clock.run(promise);
  }

  /** Lets `fault` decide the fate of the `step`-th of the requests with these commands. Returns how many there were. */
  atStep(commands: ReadonlySet<CommandName>, step: number, fault: () => Fault): () => number {
    let count = 0;
    this.cluster.script(({ command }) => {
      if (!commands.has(command)) return undefined;
      count += 1;
      return count === step ? fault() : undefined;
    });
    return () => count;
  }

  async client(process?: StoppableProcess): Promise<TikvClient> {
    const { pdAddresses, transport: plain } = this.cluster;
    const transport = process?.transport(plain) ?? plain;
    this.#seed += 1;
    const random = new Prng(this.#seed);
    const clock = process?.clock ?? this.clock;
    const options = { pdAddresses, transport, clock, random, requestTimeoutMs: 1_000 };
    const client = await this.run(TikvClient.connect(options));
    onTestFinished(() => client.close(0));
    return client;
  }

  /** Opens a node with a client of its own. */
  async open(more: Partial<TikvStorageOptions> = {}, process?: StoppableProcess): Promise<TikvStorage> {
    const client = await this.client(process);
    const found = { clusterId: 7n, members: [] };
    const root = await this.run(openRoot({ client, keys: this.keys, found, timeoutMs: 5_000 }));
    this.#seed += 1;
    return await this.run(
      openTikvStorage({
        client,
        prefix: 'test',
        root,
        local: { kind: 'memory' },
        clock: process?.clock ?? this.clock,
        random: new Prng(this.#seed),
        logger: quiet,
        appendTimeoutMs: 2_000,
        ...more,
      }),
    );
  }

  /** Opens a node that holds the log. */
  async openSealed(seal: Seal = first, more: Partial<TikvStorageOptions> = {}): Promise<TikvStorage> {
    const storage = await this.open(more);
    await this.run(storage.log.seal(seal));
    return storage;
  }

  async append(storage: Storage, batch: LogBatch, seal: Seal = first): Promise<string> {
    return (await this.run(storage.log.append(batch, seal))).kind;
  }

  /** Reads the log from `from` on. Returns the value of each record. */
  async read(storage: Storage, from = 1): Promise<number[]> {
    const reading = async (): Promise<number[]> => {
      const seen: number[] = [];
      for await (const { records } of storage.log.read(at(from), never)) {
        for (const bytes of records) seen.push(Buffer.from(bytes).readUInt32LE());
      }
      return seen;
    };
    return await this.run(reading());
  }

  /** The next request of a kind that writes or reads this key meets a fault. */
  next(command: CommandName, key: Uint8Array, fault: Fault): void {
    const remove = this.cluster.script((call) => {
      if (call.command !== command || !mentions(call.request, key)) return undefined;
      remove();
      return fault;
    });
  }
}

/** Whether the request is a prewrite that writes the key. */
function mentions(request: unknown, key: Uint8Array): boolean {
  if (!isObject(request) || !Array.isArray(request['mutations'])) return false;
  return request['mutations'].some((mutation: unknown) => {
    if (!isObject(mutation)) return false;
    const { key: its, value } = mutation;
    if (!(its instanceof Uint8Array) || !(value instanceof Uint8Array)) return false;
    return value.length > 0 && Buffer.compare(its, key) === 0;
  });
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

import { Client, credentials, Metadata, status, type ClientReadableStream } from '@grpc/grpc-js';
import { join } from 'node:path';
import { bounded } from '../../test/support/bounded.ts';
import { newStorePlace, type StorePlace, StoreProcess, storeCommand } from '../../test/support/store-process.ts';

const DEADLINE_MS = 20_000;
const MESSAGE_BYTES_MAX = 64 << 20;
/** The stores in order: etcd, then the store under test. */
export const STORES = ['etcd', 'store'] as const;

export const same = (bytes: Buffer): Buffer => bytes;
export const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The result of a call: its messages, and gRPC's code and details. */
export interface Reply {
  readonly messages: readonly Uint8Array[];
  readonly code: number;
  readonly details: string;
}

/** The two stores, each with a process, a folder and a connection. A start in a new folder makes a new store. */
export class Stores implements AsyncDisposable {
  readonly #etcd: string;
  readonly #folder: string;
  readonly #flags: readonly string[];
  #places: readonly StorePlace[] = [];
  #processes: readonly StoreProcess[] = [];
  #clients: readonly Client[] = [];
  #births = 0;
  /** How long after the first store the last one was ready, at the last start. */
  startedApartMs = 0;

  constructor(etcd: string, folder: string, flags: readonly string[]) {
    this.#etcd = etcd;
    this.#folder = folder;
    this.#flags = flags;
  }

  /** Starts both stores without data. */
  async startEmpty(): Promise<void> {
    await this.kill();
    this.#births += 1;
    const folder = join(this.#folder, `${this.#births}`);
    this.#places = await Promise.all(STORES.map((name) => newStorePlace(join(folder, name))));
    await this.start();
  }

  /** Starts both stores with their data. */
  async start(): Promise<void> {
    const commands = [[this.#etcd], storeCommand()];
    const readyMs: number[] = [];
    this.#processes = await Promise.all(
      this.#places.map(async (place, store) => {
        const command = commands[store];
        if (command === undefined) throw new Error('a store without a command');
        const started = await StoreProcess.start(place, { command, flags: this.#flags });
        readyMs.push(performance.now());
        return started;
      }),
    );
    this.startedApartMs = Math.max(...readyMs) - Math.min(...readyMs);
    this.#clients = this.#processes.map(
      ({ endpoint }) =>
        new Client(endpoint, credentials.createInsecure(), {
          'grpc.use_local_subchannel_pool': 1,
          'grpc.enable_retries': 0,
          'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
          'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
        }),
    );
  }

  async kill(): Promise<void> {
    this.#disconnect();
    await Promise.all(this.#processes.map((store) => store.kill()));
  }

  /** Stops both stores with SIGTERM. */
  async stop(): Promise<void> {
    this.#disconnect();
    await Promise.all(this.#processes.map((store) => store.stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  /** Members of the store beside the one that Status names. */
  memberIds(_store: number): readonly bigint[] {
    return [];
  }

  endpoint(store: number): string {
    return this.#process(store).endpoint;
  }

  client(store: number): Client {
    const client = this.#clients[store];
    if (client === undefined) throw new Error('a store that was not started');
    return client;
  }

  /** Sends one request and collects all answers. `path` has no leading slash. */
  call(store: number, path: string, request: Uint8Array, metadata: Readonly<Record<string, string>>): Promise<Reply> {
    const stream = this.client(store).makeServerStreamRequest(
      `/${path}`,
      toBuffer,
      same,
      request,
      metadataOf(metadata),
      {
        deadline: Date.now() + DEADLINE_MS,
      },
    );
    return bounded(`${STORES[store]} answers ${path}`, DEADLINE_MS * 1.5, replyOf(stream));
  }

  #process(store: number): StoreProcess {
    const found = this.#processes[store];
    if (found === undefined) throw new Error('a store that was not started');
    return found;
  }

  #disconnect(): void {
    for (const client of this.#clients) client.close();
    this.#clients = [];
  }
}

export function metadataOf(fields: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(fields)) metadata.set(name, value);
  return metadata;
}

function replyOf(stream: ClientReadableStream<Buffer>): Promise<Reply> {
  return new Promise((resolve) => {
    const messages: Uint8Array[] = [];
    stream.on('data', (message: Buffer) => messages.push(message));
    // Every call ends with a status, which the error repeats.
    stream.on('error', () => {});
    stream.on('status', ({ code, details }) => resolve({ messages, code, details: code === status.OK ? '' : details }));
  });
}

import * as grpc from '@grpc/grpc-js';
import type { ServeOptions, Server } from '@engram/transport';
import { type CallHooks, type Interceptor, intercepted } from '@engram/wire';
import { echoMethods, type Journal } from './echo-methods.ts';
import { quiet, realClock } from '@engram/sim';

export type Serve = (options: ServeOptions) => Promise<Server>;

/** Counts what the hooks are told; `open` is begun minus ended. */
class CountingInterceptor implements Interceptor {
  readonly handled: string[] = [];
  open = 0;
  received = 0;
  sent = 0;
  server: Server | undefined;

  get connections(): number {
    return this.server?.connections ?? 0;
  }

  hooks(path: string): CallHooks {
    return {
      begin: () => {
        this.open += 1;
      },
      end: (_call, { code }) => {
        this.open -= 1;
        this.handled.push(`${path.slice(path.lastIndexOf('/') + 1)} ${code}`);
      },
      received: (_call, bytes) => {
        this.received += bytes;
      },
      sent: (_call, bytes) => {
        this.sent += bytes;
      },
    };
  }
}

export interface Serving extends AsyncDisposable {
  readonly server: Server;
  readonly journal: Journal;
  readonly observer: CountingInterceptor;
  /** The address that a client connects to. */
  readonly target: string;
  readonly port: number;
}

export async function startServing(serve: Serve, changes: Partial<ServeOptions> = {}): Promise<Serving> {
  const journal: Journal = [];
  const observer = new CountingInterceptor();
  const server = await serve({
    http: (request) => ({
      status: request.path === '/version' ? 200 : 404,
      headers: { 'content-type': 'text/plain' },
      body: `${request.method} ${request.path} ${request.query.get('q')} ${Buffer.from(request.body).toString()}`,
    }),
    listen: { kind: 'tcp', host: '127.0.0.1', port: 0 },
    protocols: 'both',
    maxRequestBytes: 2 * 1024 * 1024,
    maxConcurrentStreams: 2 ** 32 - 1,
    keepalive: { minTimeMs: 5_000, intervalMs: 7_200_000, timeoutMs: 20_000 },
    logger: quiet,
    clock: realClock,
    ...changes,
    methods: intercepted(changes.methods ?? echoMethods(journal), [observer]),
  });
  observer.server = server;
  const { address } = server;
  return {
    server,
    journal,
    observer,
    target: address.kind === 'tcp' ? `${address.host}:${address.port}` : `unix:${address.path}`,
    port: address.kind === 'tcp' ? address.port : 0,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const identity = (bytes: Buffer): Buffer => bytes;

/** Sends and receives bytes; no message types. */
export class ByteClient implements Disposable {
  readonly #client: grpc.Client;

  constructor(target: string, credentials = grpc.credentials.createInsecure(), options: grpc.ClientOptions = {}) {
    this.#client = new grpc.Client(target, credentials, {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
      ...options,
    });
  }

  unary(
    path: string,
    request: string | Uint8Array,
    call: grpc.CallOptions = {},
    metadata = new grpc.Metadata(),
  ): Promise<Buffer> {
    return this.start(path, request, call, metadata).answer;
  }

  start(
    path: string,
    request: string | Uint8Array,
    call: grpc.CallOptions = {},
    metadata = new grpc.Metadata(),
  ): { cancel(): void; answer: Promise<Buffer> } {
    let cancel = (): void => {};
    const answer = new Promise<Buffer>((resolve, reject) => {
      const started = this.#client.makeUnaryRequest(
        path,
        identity,
        identity,
        Buffer.from(request),
        metadata,
        call,
        (error, value) => {
          if (error !== null) reject(error);
          else resolve(value ?? Buffer.alloc(0));
        },
      );
      cancel = () => started.cancel();
    });
    return { cancel: () => cancel(), answer };
  }

  serverStream(path: string, request: string): grpc.ClientReadableStream<Buffer> {
    return this.#client.makeServerStreamRequest(path, identity, identity, Buffer.from(request));
  }

  bidi(path: string): grpc.ClientDuplexStream<Buffer, Buffer> {
    return this.#client.makeBidiStreamRequest(path, identity, identity);
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

export interface Ended {
  readonly messages: string[];
  readonly code: number;
  readonly details: string;
}

/** All messages until the end of the stream, and its status. */
export function outcome(
  stream: grpc.ClientReadableStream<Buffer> | grpc.ClientDuplexStream<Buffer, Buffer>,
): Promise<Ended> {
  return new Promise((resolve) => {
    const messages: string[] = [];
    const readable: NodeJS.EventEmitter = stream;
    readable.on('data', (message: Buffer) => messages.push(message.toString()));
    readable.on('error', () => {});
    readable.on('status', (status: grpc.StatusObject) =>
      resolve({ messages, code: status.code, details: status.details }),
    );
  });
}

/** Resolves when `holds` returns true. Checks it in each turn of the event loop. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

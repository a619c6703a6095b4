import * as grpc from '@grpc/grpc-js';
import { type Channel, isTransportError, type TransportError } from '../transport/transport.ts';
import { storeMethods } from './store-commands.ts';
import { pdMethods, type StrictStream } from './strict/strict-wire.ts';

const identity = (bytes: Buffer): Buffer => bytes;
const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const definition = (path: string, streaming: boolean): grpc.MethodDefinition<Buffer, Buffer> => ({
  path,
  requestStream: streaming,
  responseStream: streaming,
  requestSerialize: identity,
  requestDeserialize: identity,
  responseSerialize: identity,
  responseDeserialize: identity,
});

/** All unary calls of this client to PD, to stores, and to their health service. */
const unaryPaths = [
  ...Object.keys(pdMethods).map((method) => `/pdpb.PD/${method}`),
  ...Object.keys(storeMethods).map((method) => `/tikvpb.Tikv/${method}`),
  '/grpc.health.v1.Health/Check',
];
const streamPaths = ['/pdpb.PD/Tso', '/tikvpb.Tikv/BatchCommands'];

export interface RelayOptions {
  /** The channel to the server for one call. A channel that is not shared is closed with the call. */
  connect(path: string): { readonly channel: Channel; readonly shared: boolean };
  /** host:port. Port 0 selects a free port. */
  readonly bind?: string;
  readonly credentials?: grpc.ServerCredentials;
  /** Sees a unary request before it is passed on. If it throws, the call ends with that error. */
  request?(path: string, bytes: Uint8Array): void;
  /** Sees a unary answer, and returns the answer to pass on. */
  answer?(path: string, bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** Sees each message of one stream before it is passed on. */
  stream?(path: string): StrictStream | undefined;
}

/** A gRPC server that passes every call on to another server, and its answer or error back. */
export class GrpcRelay {
  readonly address: string;
  readonly #server: grpc.Server;

  private constructor(server: grpc.Server, address: string) {
    this.#server = server;
    this.address = address;
  }

  static async start(options: RelayOptions): Promise<GrpcRelay> {
    const server = new grpc.Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
    for (const path of unaryPaths)
      server.addService({ method: definition(path, false) }, { method: passUnary(path, options) });
    for (const path of streamPaths)
      server.addService({ method: definition(path, true) }, { method: passStream(path, options) });
    const credentials = options.credentials ?? grpc.ServerCredentials.createInsecure();
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(options.bind ?? '127.0.0.1:0', credentials, (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    return new GrpcRelay(server, `127.0.0.1:${port}`);
  }

  /** Ends the server and all its connections. */
  stop(): void {
    this.#server.forceShutdown();
  }
}

const statusOf = (error: unknown): { readonly code: grpc.status; readonly details: string } =>
  isTransportError(error)
    ? { code: error.grpc, details: error.message }
    : { code: grpc.status.INTERNAL, details: String(error) };

const failure = (error: unknown): Error => Object.assign(new Error(statusOf(error).details), statusOf(error));

function passUnary(path: string, options: RelayOptions): grpc.handleUnaryCall<Buffer, Buffer> {
  return (call, callback) => {
    const cancelled = new AbortController();
    call.on('cancelled', () => cancelled.abort());
    const deadline = call.getDeadline();
    const timeoutMs = Math.max(1, Number(deadline) - Date.now());
    const pass = async (): Promise<Uint8Array> => {
      options.request?.(path, call.request);
      const { channel, shared } = options.connect(path);
      try {
        const answer = await channel.unary(path, call.request, {
          timeoutMs: Math.min(timeoutMs, 600_000),
          signal: cancelled.signal,
        });
        return (await options.answer?.(path, answer)) ?? answer;
      } finally {
        if (!shared) channel.close();
      }
    };
    pass().then(
      (answer) => callback(null, toBuffer(answer)),
      (error: unknown) => callback(statusOf(error)),
    );
  };
}

function passStream(path: string, options: RelayOptions): grpc.handleBidiStreamingCall<Buffer, Buffer> {
  return (call) => {
    const { channel, shared } = options.connect(path);
    const seen = options.stream?.(path);
    const end = (): void => {
      inner.cancel();
      if (!shared) channel.close();
    };
    const guard =
      <Bytes extends Uint8Array>(pass: (bytes: Bytes) => void) =>
      (bytes: Bytes): void => {
        try {
          pass(bytes);
        } catch (error) {
          call.emit('error', failure(error));
          end();
        }
      };
    const inner = channel.stream(path, {
      message: guard((bytes) => {
        seen?.answer(bytes);
        call.write(toBuffer(bytes));
      }),
      end: (error: TransportError) => {
        call.emit('error', failure(error));
        if (!shared) channel.close();
      },
    });
    call.on(
      'data',
      guard((bytes: Buffer) => {
        seen?.request(bytes);
        inner.write(bytes);
      }),
    );
    for (const event of ['end', 'cancelled', 'error']) call.on(event, end);
  };
}

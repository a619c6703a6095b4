import * as grpc from '@grpc/grpc-js';
import { credentialsOf, type TlsOptions } from './tls.ts';
import { type Channel, type MessageStream, type Transport, TransportError, type UnaryOptions } from './transport.ts';

/** Message sizes are unlimited, as in TiKV. Keepalive is that of client-go. Each channel has its own connection. */
const channelOptions: grpc.ChannelOptions = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 3_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_retries': 0,
  'grpc.enable_http_proxy': 0,
  'grpc-node.max_session_memory': 256,
  // All answers of a store come on one stream. With HTTP/2's 64 KiB the store would wait for this process's event loop after
  // each 64 KiB.
  'grpc-node.flow_control_window': 16 << 20,
};

/** The longest time of a timer of node. */
const TIMER_MS_MAX = 2 ** 31 - 1;

const identity = (bytes: Buffer): Buffer => bytes;
const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function toTransportError(error: unknown): TransportError {
  const { code, details, message } = error as Partial<grpc.ServiceError>;
  return new TransportError(code ?? grpc.status.UNKNOWN, details ?? message ?? 'unknown', { cause: error });
}

function toMetadata(entries: Readonly<Record<string, string>> | undefined): grpc.Metadata {
  const metadata = new grpc.Metadata();
  for (const [key, value] of Object.entries(entries ?? {})) metadata.set(key, value);
  return metadata;
}

class GrpcChannel implements Channel {
  readonly #client: grpc.Client;
  readonly #ending = new Set<(error: TransportError) => void>();

  constructor(address: string, credentials: grpc.ChannelCredentials) {
    this.#client = new grpc.Client(address, credentials, channelOptions);
  }

  unary(method: string, request: Uint8Array, options: UnaryOptions): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const { signal } = options;
      const cancel = (): void => call.cancel();
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
        this.#ending.delete(fail);
      };
      const fail = (error: TransportError): void => {
        done();
        reject(error);
        call.cancel();
      };
      // grpc-js counts its deadlines by the time of day. A step of that clock would end the request, or let it wait for ever.
      const timer = setTimeout(
        () => fail(new TransportError(grpc.status.DEADLINE_EXCEEDED, 'deadline exceeded')),
        Math.min(options.timeoutMs, TIMER_MS_MAX),
      );
      const call = this.#client.makeUnaryRequest(
        method,
        toBuffer,
        identity,
        request,
        toMetadata(options.metadata),
        {},
        (error, response) => {
          done();
          if (error !== null) reject(toTransportError(error));
          else resolve(response as Buffer);
        },
      );
      this.#ending.add(fail);
      if (signal?.aborted) call.cancel();
      else signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  stream(
    method: string,
    events: Parameters<Channel['stream']>[1],
    metadata?: Readonly<Record<string, string>>,
  ): MessageStream {
    const call = this.#client.makeBidiStreamRequest(method, toBuffer, identity, toMetadata(metadata));
    let ended = false;
    const end = (error: TransportError): void => {
      if (ended) return;
      ended = true;
      this.#ending.delete(fail);
      events.end(error);
    };
    const fail = (error: TransportError): void => {
      end(error);
      call.cancel();
    };
    this.#ending.add(fail);
    call.on('data', (bytes: Buffer) => {
      if (!ended) events.message(bytes);
    });
    call.on('error', (error) => end(toTransportError(error)));
    call.on('end', () => end(new TransportError(grpc.status.UNAVAILABLE, 'the server closed the stream')));
    return {
      write: (bytes) => {
        if (!ended) call.write(bytes);
      },
      cancel: () => fail(new TransportError(grpc.status.CANCELLED, 'cancelled by this client')),
    };
  }

  close(): void {
    for (const end of [...this.#ending]) end(new TransportError(grpc.status.UNAVAILABLE, 'the channel is closed'));
    this.#client.close();
  }
}

/** The transport over sockets, by grpc-js. */
export class GrpcTransport implements Transport {
  readonly #tls: TlsOptions | undefined;

  constructor(tls: TlsOptions | undefined) {
    this.#tls = tls;
  }

  connect(address: string, secure: boolean): Channel {
    const plain = this.#tls === undefined && !secure;
    return new GrpcChannel(address, plain ? grpc.credentials.createInsecure() : credentialsOf(this.#tls ?? {}));
  }
}

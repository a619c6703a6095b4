import * as grpc from '@grpc/grpc-js';
import { WireError } from '@engram/wire';
import type { Call } from './calls.ts';
import type { Endpoint } from './endpoint.ts';
import { deadlineExceeded, RpcError, toRpcError } from './rpc-error.ts';
import { systemTls, type TlsSettings } from './tls-files.ts';

/** No time is longer than a timer of node: 2^31 - 1 ms. */
export interface ClientOptions {
  readonly tls: TlsSettings | undefined;
  /** How long a connection may take. */
  readonly dialTimeoutMs: number;
  /** How long a call may take once there is a connection. */
  readonly commandTimeoutMs: number;
  readonly keepaliveTimeMs: number;
  readonly keepaliveTimeoutMs: number;
  /** Of one message. */
  readonly receiveBytesMax: number;
  readonly sendBytesMax: number;
  /** etcd's token of a user. */
  readonly token: string | undefined;
}

const READY = grpc.connectivityState.READY;

const identity = (bytes: Buffer): Buffer => bytes;
const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A connection to one endpoint. Every wait has a bound, of `ClientOptions`, and rejects with RpcError. */
export class EtcdClient implements Disposable {
  readonly endpoint: Endpoint;
  readonly #client: grpc.Client;
  readonly #options: ClientOptions;
  readonly #metadata = new grpc.Metadata();
  #dialling: Promise<void> | undefined;
  #connected = false;

  constructor(endpoint: Endpoint, options: ClientOptions) {
    this.endpoint = endpoint;
    this.#options = options;
    if (options.token !== undefined) this.#metadata.set('token', options.token);
    const secured = tlsOf(endpoint, options.tls);
    const name = secured?.serverName ?? '';
    this.#client = new grpc.Client(endpoint.address, credentialsOf(secured), {
      'grpc.max_receive_message_length': options.receiveBytesMax,
      'grpc.max_send_message_length': options.sendBytesMax,
      // grpc-go raises what etcdctl asks for to ten seconds; a server of it counts pings that come sooner as an attack.
      'grpc.keepalive_time_ms': Math.max(options.keepaliveTimeMs, 10_000),
      'grpc.keepalive_timeout_ms': options.keepaliveTimeoutMs,
      'grpc.enable_retries': 0,
      'grpc.enable_http_proxy': 0,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.service_config_disable_resolution': 1,
      ...(name === '' ? {} : { 'grpc.ssl_target_name_override': name }),
      ...(endpoint.path === undefined ? {} : { 'grpc.default_authority': 'localhost' }),
    });
  }

  async unary<Request, Response>(
    { path, encode, decode }: Call<Request, Response>,
    request: Request,
    signal: AbortSignal,
  ): Promise<Response> {
    await this.#connect(signal);
    const bytes = await this.#ask(path, encode(request), signal);
    try {
      return decode(bytes);
    } catch (cause) {
      if (!(cause instanceof WireError)) throw cause;
      throw new RpcError(grpc.status.INTERNAL, `the answer to ${path} is no message of etcd: ${cause.message}`, {
        cause,
      });
    }
  }

  /** A stream in both directions. The caller bounds its waits, and cancels it. */
  async stream(path: string, signal: AbortSignal): Promise<grpc.ClientDuplexStream<Uint8Array, Buffer>> {
    await this.#connect(signal);
    return this.#client.makeBidiStreamRequest(path, toBuffer, identity, this.#metadata, {});
  }

  get commandTimeoutMs(): number {
    return this.#options.commandTimeoutMs;
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  #ask(path: string, request: Uint8Array, signal: AbortSignal): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const { commandTimeoutMs } = this.#options;
      let late = false;
      const cancel = (): void => call.cancel();
      // grpc-js counts its deadlines by the time of day, which may be set meanwhile.
      const timer = setTimeout(() => {
        late = true;
        call.cancel();
      }, commandTimeoutMs);
      const call = this.#client.makeUnaryRequest(
        path,
        toBuffer,
        identity,
        request,
        this.#metadata,
        {},
        (error, answer) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', cancel);
          if (signal.aborted) reject(signal.reason);
          else if (late) reject(deadlineExceeded(`no answer to ${path} within ${commandTimeoutMs} ms`));
          else if (error !== null) reject(toRpcError(error));
          else resolve(answer ?? Buffer.alloc(0));
        },
      );
      if (signal.aborted) call.cancel();
      else signal.addEventListener('abort', cancel, { once: true });
    });
  }

  /** Resolves when there is a connection, or when it was refused: the call says why then. */
  async #connect(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#connected) return;
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      this.#dialling ??= this.#dial();
      await Promise.race([this.#dialling, aborted]);
      this.#connected = true;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async #dial(): Promise<void> {
    const { dialTimeoutMs } = this.#options;
    const { promise: late, resolve: expire } = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => expire('late'), dialTimeoutMs);
    const channel = this.#client.getChannel();
    try {
      for (;;) {
        const state = channel.getConnectivityState(true);
        if (state === READY || state === grpc.connectivityState.TRANSIENT_FAILURE) return;
        const changed = new Promise<'changed'>((resolve) =>
          channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, () => resolve('changed')),
        );
        if ((await Promise.race([late, changed])) === 'late') {
          throw deadlineExceeded(`no connection to ${this.endpoint.text} within ${dialTimeoutMs} ms`);
        }
      }
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The TLS of an endpoint: its scheme decides, then whether there are settings. */
export function tlsOf({ tls }: Endpoint, settings: TlsSettings | undefined): TlsSettings | undefined {
  if (tls === 'dropped') return undefined;
  return tls === 'required' ? (settings ?? systemTls()) : settings;
}

function credentialsOf(tls: TlsSettings | undefined): grpc.ChannelCredentials {
  if (tls === undefined) return grpc.credentials.createInsecure();
  const lenient = tls.skipVerify ? { rejectUnauthorized: false, checkServerIdentity: () => undefined } : {};
  return grpc.credentials.createFromSecureContext(tls.context, lenient);
}

import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import * as grpc from '@grpc/grpc-js';
import { etcdserverpb as pb, WireError } from '@engram/wire';
import { MigrationError } from './migration-error.ts';

/** How to reach an etcd. */
export interface EtcdAddress {
  /** host:port each, with http:// or https:// before it or without; they are tried in turn. */
  readonly endpoints: readonly string[];
  /** Paths of PEM files; undefined: plain text, unless an endpoint has https. */
  readonly tls: { readonly caPath?: string; readonly certPath?: string; readonly keyPath?: string } | undefined;
  /** Undefined: none. */
  readonly user: { readonly name: string; readonly password: string } | undefined;
}

/** Of a call that has one answer. */
const CALL_MAX_MS = 10_000;
/** Of a stream: nothing comes for so long. */
const IDLE_MAX_MS = 15_000;
/** Lists of a million leases, and a revision in fragments, are smaller. */
const MESSAGE_BYTES_MAX = 64 << 20;
const INTERRUPTED: ReadonlySet<number> = new Set([
  grpc.status.CANCELLED,
  grpc.status.DEADLINE_EXCEEDED,
  grpc.status.UNAVAILABLE,
  grpc.status.UNAUTHENTICATED, // a token that has ended: the next call logs in again
]);

/** What an etcd says with the code UNKNOWN while it is behind its own log. Nothing of the call has been done. */
const BUSY = 'etcdserver: too many requests';
/** How grpc-js begins the text, with the code INTERNAL, where a proxy or the other side has ended a stream without a status. */
const RESET = 'Received RST_STREAM';

/** What an etcd says of a token that it does not know any more, or that is older than a change of users and roles. */
const LOGIN_ENDED = ['etcdserver: invalid auth token', 'etcdserver: revision of auth store is old'];

const passes = (code: number, text: string): boolean =>
  INTERRUPTED.has(code) || text === BUSY || (code === grpc.status.INTERNAL && text.startsWith(RESET));

const identity = (bytes: Buffer): Buffer => bytes;
const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A connection to one endpoint of an etcd at a time. After an error that may pass, the next call goes to the next endpoint. */
export class EtcdClient implements Disposable {
  readonly #address: EtcdAddress;
  #at = 0;
  #client: grpc.Client | undefined;
  #token: string | undefined;
  /** Of the first answer. */
  #clusterId: bigint | undefined;

  /** `clusterId`: the only cluster that may answer; undefined: that of the first answer. Throws MigrationError refused. */
  constructor(address: EtcdAddress, clusterId?: bigint) {
    this.#address = address;
    this.#clusterId = clusterId;
    for (const endpoint of address.endpoints) targetOf(endpoint);
  }

  /** The endpoint of the next call. */
  get endpoint(): string {
    return this.#address.endpoints[this.#at % this.#address.endpoints.length] ?? '';
  }

  /** Undefined before the first answer. */
  get clusterId(): bigint | undefined {
    return this.#clusterId;
  }

  /** Rejects with MigrationError: interrupted, refused, other-cluster, malformed; and with the signal's reason. */
  async unary<Response extends { readonly header: pb.ResponseHeader | undefined }>(
    path: string,
    request: Uint8Array,
    decode: (bytes: Uint8Array) => Response,
    signal: AbortSignal,
  ): Promise<Response> {
    const metadata = await this.#metadata(signal);
    const response = await this.#ask(path, request, metadata, decode, signal);
    this.checkCluster(response.header);
    return response;
  }

  /** The messages of a stream, until the other side ends it. `begin` are written first, `each` once a second. */
  async *stream<Response>(
    path: string,
    { begin, each }: { readonly begin: readonly Uint8Array[]; readonly each?: Uint8Array },
    decode: (bytes: Uint8Array) => Response,
    signal: AbortSignal,
  ): AsyncGenerator<Response> {
    const metadata = await this.#metadata(signal);
    signal.throwIfAborted();
    const client = this.#open();
    const call = client.makeBidiStreamRequest(path, toBuffer, identity, metadata, {});
    let waiting = true;
    let late = false;
    const abort = (): void => call.cancel();
    call.on('error', () => {}); // the iteration throws it
    signal.addEventListener('abort', abort, { once: true });
    const idle = setTimeout(() => {
      if (!waiting) return;
      late = true;
      call.cancel();
    }, IDLE_MAX_MS);
    const asking = each === undefined ? undefined : setInterval(() => call.write(each), 1000);
    try {
      for (const request of begin) call.write(request);
      if (each === undefined) call.end();
      for await (const bytes of call) {
        const response = decoded(path, decode, bytes);
        waiting = false;
        yield response;
        waiting = true;
        idle.refresh();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (late) throw this.#interrupted(client, `nothing of ${path} within ${IDLE_MAX_MS} ms`);
      throw this.#translated(client, error);
    } finally {
      clearTimeout(idle);
      clearInterval(asking);
      signal.removeEventListener('abort', abort);
      call.cancel();
    }
  }

  /** Writes all requests into a stream, and takes an answer for each. */
  async exchange<Response extends { readonly header: pb.ResponseHeader | undefined }>(
    path: string,
    requests: readonly Uint8Array[],
    decode: (bytes: Uint8Array) => Response,
    signal: AbortSignal,
  ): Promise<void> {
    let left = requests.length;
    for await (const response of this.stream(path, { begin: requests }, decode, signal)) {
      this.checkCluster(response.header);
      left -= 1;
      if (left === 0) return;
    }
    throw this.#interrupted(this.#client, `${path} has ended without ${left} answers`);
  }

  /** Throws MigrationError other-cluster if an answer is of another cluster than the first one. */
  checkCluster(header: pb.ResponseHeader | undefined): void {
    if (header === undefined) throw new MigrationError('malformed', `${this.endpoint} answers without a header`);
    this.#clusterId ??= header.clusterId;
    if (header.clusterId === this.#clusterId) return;
    throw new MigrationError(
      'other-cluster',
      `${this.endpoint} is of the cluster ${header.clusterId.toString(16)}, not of ${this.#clusterId.toString(16)}`,
    );
  }

  /**
   * Whether a call that was refused with this text passes with a new token: then the next call logs in again. An etcd that was
   * started again, or another endpoint, may not know the token.
   */
  endsLogin(text: string): boolean {
    if (this.#address.user === undefined || !LOGIN_ENDED.some((said) => text.includes(said))) return false;
    this.#token = undefined;
    return true;
  }

  [Symbol.dispose](): void {
    this.#client?.close();
    this.#client = undefined;
  }

  async #metadata(signal: AbortSignal): Promise<grpc.Metadata> {
    const metadata = new grpc.Metadata();
    // A member that is cut off from the others would go on to answer, and say nothing of what they write. So it refuses, or ends streams.
    metadata.set('hasleader', 'true');
    const { user } = this.#address;
    if (user === undefined) return metadata;
    if (this.#token === undefined) {
      const request = pb.encodeAuthenticateRequest(user);
      const path = '/etcdserverpb.Auth/Authenticate';
      this.#token = (await this.#ask(path, request, metadata, pb.decodeAuthenticateResponse, signal)).token;
    }
    metadata.set('token', this.#token);
    return metadata;
  }

  #ask<Response>(
    path: string,
    request: Uint8Array,
    metadata: grpc.Metadata,
    decode: (bytes: Uint8Array) => Response,
    signal: AbortSignal,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      let late = false;
      const client = this.#open();
      const call = client.makeUnaryRequest(path, toBuffer, identity, request, metadata, {}, (error, answer) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancel);
        try {
          if (signal.aborted) throw signal.reason;
          if (late) throw this.#interrupted(client, `no answer to ${path} within ${CALL_MAX_MS} ms`);
          if (error !== null) throw this.#translated(client, error);
          resolve(decoded(path, decode, answer ?? Buffer.alloc(0)));
        } catch (cause) {
          reject(cause);
        }
      });
      const cancel = (): void => call.cancel();
      // grpc-js counts its deadlines by the time of day, which may be set meanwhile.
      const timer = setTimeout(() => {
        late = true;
        call.cancel();
      }, CALL_MAX_MS);
      signal.addEventListener('abort', cancel, { once: true });
    });
  }

  #open(): grpc.Client {
    if (this.#client === undefined) {
      const { host, secure } = targetOf(this.endpoint);
      const { tls } = this.#address;
      const credentials = secure || tls !== undefined ? credentialsOf(tls ?? {}) : grpc.credentials.createInsecure();
      this.#client = new grpc.Client(host, credentials, {
        'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
        'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
        'grpc.keepalive_time_ms': 10_000,
        'grpc.keepalive_timeout_ms': 5000,
        'grpc.enable_retries': 0,
        'grpc.enable_http_proxy': 0,
        'grpc.use_local_subchannel_pool': 1,
        'grpc.service_config_disable_resolution': 1,
      });
    }
    return this.#client;
  }

  #translated(client: grpc.Client, error: unknown): MigrationError {
    if (error instanceof MigrationError) return error;
    const { code, details, message } = error as { code?: unknown; details?: unknown; message?: unknown };
    const text = typeof details === 'string' && details !== '' ? details : String(message ?? error);
    if (typeof code === 'number' && !passes(code, text) && !this.endsLogin(text)) {
      return new MigrationError('refused', `${this.endpoint}: ${text}`, { cause: error });
    }
    if (code === grpc.status.UNAUTHENTICATED) this.#token = undefined;
    return this.#interrupted(client, text, { cause: error });
  }

  /** From here on the next endpoint is asked, unless another call of the same connection has said so. */
  #interrupted(client: grpc.Client | undefined, text: string, options?: ErrorOptions): MigrationError {
    const error = new MigrationError('interrupted', `${this.endpoint}: ${text}`, options);
    if (client === this.#client) {
      this[Symbol.dispose]();
      this.#at += 1;
    }
    return error;
  }
}

function decoded<Response>(path: string, decode: (bytes: Uint8Array) => Response, bytes: Uint8Array): Response {
  try {
    return decode(bytes);
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    throw new MigrationError('malformed', `an answer to ${path} is no message of etcd: ${cause.message}`, { cause });
  }
}

function targetOf(endpoint: string): { readonly host: string; readonly secure: boolean } {
  const [, scheme, host] = /^(?:(https?):\/\/)?((?:\[[0-9a-f:]+\]|[^:[\]@/\s]+):\d{1,5})\/?$/i.exec(endpoint) ?? [];
  if (host !== undefined) return { host, secure: scheme === 'https' };
  throw new MigrationError(
    'refused',
    `the endpoint ${JSON.stringify(endpoint)}: expected host:port, with http:// or https://`,
  );
}

function credentialsOf({ caPath, certPath, keyPath }: NonNullable<EtcdAddress['tls']>): grpc.ChannelCredentials {
  try {
    const context = createSecureContext({
      minVersion: 'TLSv1.2',
      allowPartialTrustChain: true,
      ...(caPath === undefined ? {} : { ca: readFileSync(caPath) }),
      ...(certPath === undefined ? {} : { cert: readFileSync(certPath) }),
      ...(keyPath === undefined ? {} : { key: readFileSync(keyPath) }),
    });
    return grpc.credentials.createFromSecureContext(context);
  } catch (cause) {
    const files = [caPath, certPath, keyPath].filter((path) => path !== undefined).join(', ');
    throw new MigrationError('refused', `the TLS files ${files} cannot be used: ${String(cause)}`, { cause });
  }
}

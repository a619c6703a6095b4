import { Client, type ClientDuplexStream, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { etcdserverpb, type Init } from '@engram/wire';

type Decode<Response> = (bytes: Uint8Array) => Response;

/** Default deadline of a test's requests. */
const DEADLINE_MS = 10_000;
const MESSAGE_BYTES_MAX = 64 << 20;

const same = (bytes: Buffer): Buffer => bytes;
const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The range of all keys. */
export const ALL_KEYS = { key: Uint8Array.of(0), rangeEnd: Uint8Array.of(0) } as const;

export interface EtcdClientOptions {
  readonly deadlineMs?: number;
  /** The longest message to either side. 64 MiB if absent. */
  readonly messageBytesMax?: number;
  /** Without it the connection has no TLS. */
  readonly tls?: ClientTls;
}

/** PEM: the authorities that the client trusts, and its own certificate with its key. */
export interface ClientTls {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** A failed request, with gRPC's code and etcd's text. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  readonly code: number;

  constructor(code: number, details: string, path: string, options?: ErrorOptions) {
    super(`${path}: ${status[code] ?? code}: ${details}`, options);
    this.code = code;
  }

  /**
   * Whether the request may have taken effect: its answer was lost or never came. A refusal by the store has another
   * code.
   */
  get uncertain(): boolean {
    return (
      this.code === status.UNAVAILABLE ||
      this.code === status.DEADLINE_EXCEEDED ||
      this.code === status.CANCELLED ||
      this.code === status.UNKNOWN ||
      this.code === status.INTERNAL
    );
  }
}

/**
 * etcd's API over @grpc/grpc-js, for tests: one connection, one method for each call, no retries. So a test sees the
 * store's own answers. Requests are wire's messages, in which any field may be left out.
 */
export class EtcdClient implements Disposable {
  readonly #channel: Client;
  readonly #deadlineMs: number;

  constructor(endpoint: string, options: EtcdClientOptions = {}) {
    const { messageBytesMax = MESSAGE_BYTES_MAX, tls } = options;
    this.#deadlineMs = options.deadlineMs ?? DEADLINE_MS;
    const secured = tls === undefined ? credentials.createInsecure() : credentials.createSsl(tls.ca, tls.key, tls.cert);
    this.#channel = new Client(endpoint, secured, {
      // Two clients of one process have two connections.
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_retries': 0,
      'grpc.max_receive_message_length': messageBytesMax,
      'grpc.max_send_message_length': messageBytesMax,
      'grpc.initial_reconnect_backoff_ms': 20,
      'grpc.min_reconnect_backoff_ms': 20,
      'grpc.max_reconnect_backoff_ms': 100,
    });
  }

  range(request: Init<etcdserverpb.RangeRequest>): Promise<etcdserverpb.RangeResponse> {
    return this.#call('KV/Range', etcdserverpb.encodeRangeRequest(request), etcdserverpb.decodeRangeResponse);
  }

  put(
    request: Init<etcdserverpb.PutRequest>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<etcdserverpb.PutResponse> {
    return this.#call('KV/Put', etcdserverpb.encodePutRequest(request), etcdserverpb.decodePutResponse, headers);
  }

  deleteRange(request: Init<etcdserverpb.DeleteRangeRequest>): Promise<etcdserverpb.DeleteRangeResponse> {
    const bytes = etcdserverpb.encodeDeleteRangeRequest(request);
    return this.#call('KV/DeleteRange', bytes, etcdserverpb.decodeDeleteRangeResponse);
  }

  txn(request: Init<etcdserverpb.TxnRequest>): Promise<etcdserverpb.TxnResponse> {
    return this.#call('KV/Txn', etcdserverpb.encodeTxnRequest(request), etcdserverpb.decodeTxnResponse);
  }

  compact(request: Init<etcdserverpb.CompactionRequest>): Promise<etcdserverpb.CompactionResponse> {
    return this.#call(
      'KV/Compact',
      etcdserverpb.encodeCompactionRequest(request),
      etcdserverpb.decodeCompactionResponse,
    );
  }

  leaseGrant(request: Init<etcdserverpb.LeaseGrantRequest>): Promise<etcdserverpb.LeaseGrantResponse> {
    const bytes = etcdserverpb.encodeLeaseGrantRequest(request);
    return this.#call('Lease/LeaseGrant', bytes, etcdserverpb.decodeLeaseGrantResponse);
  }

  leaseRevoke(request: Init<etcdserverpb.LeaseRevokeRequest>): Promise<etcdserverpb.LeaseRevokeResponse> {
    const bytes = etcdserverpb.encodeLeaseRevokeRequest(request);
    return this.#call('Lease/LeaseRevoke', bytes, etcdserverpb.decodeLeaseRevokeResponse);
  }

  leaseTimeToLive(request: Init<etcdserverpb.LeaseTimeToLiveRequest>): Promise<etcdserverpb.LeaseTimeToLiveResponse> {
    const bytes = etcdserverpb.encodeLeaseTimeToLiveRequest(request);
    return this.#call('Lease/LeaseTimeToLive', bytes, etcdserverpb.decodeLeaseTimeToLiveResponse);
  }

  leaseLeases(): Promise<etcdserverpb.LeaseLeasesResponse> {
    const bytes = etcdserverpb.encodeLeaseLeasesRequest({});
    return this.#call('Lease/LeaseLeases', bytes, etcdserverpb.decodeLeaseLeasesResponse);
  }

  /** A call of the service Auth. */
  auth(method: string, request: Uint8Array = new Uint8Array(0)): Promise<Uint8Array> {
    return this.#call(`Auth/${method}`, request, (bytes) => bytes);
  }

  alarm(request: Init<etcdserverpb.AlarmRequest>): Promise<etcdserverpb.AlarmResponse> {
    const bytes = etcdserverpb.encodeAlarmRequest(request);
    return this.#call('Maintenance/Alarm', bytes, etcdserverpb.decodeAlarmResponse);
  }

  hashKv(request: Init<etcdserverpb.HashKVRequest> = {}): Promise<etcdserverpb.HashKVResponse> {
    const bytes = etcdserverpb.encodeHashKVRequest(request);
    return this.#call('Maintenance/HashKV', bytes, etcdserverpb.decodeHashKVResponse);
  }

  async defragment(): Promise<void> {
    await this.#call('Maintenance/Defragment', new Uint8Array(0), () => undefined);
  }

  status(): Promise<etcdserverpb.StatusResponse> {
    const bytes = etcdserverpb.encodeStatusRequest({});
    return this.#call('Maintenance/Status', bytes, etcdserverpb.decodeStatusResponse);
  }

  async moveLeader(targetID: bigint): Promise<void> {
    const bytes = etcdserverpb.encodeMoveLeaderRequest({ targetID });
    await this.#call('Maintenance/MoveLeader', bytes, etcdserverpb.decodeMoveLeaderResponse);
  }

  memberAdd(request: Init<etcdserverpb.MemberAddRequest>): Promise<etcdserverpb.MemberAddResponse> {
    const bytes = etcdserverpb.encodeMemberAddRequest(request);
    return this.#call('Cluster/MemberAdd', bytes, etcdserverpb.decodeMemberAddResponse);
  }

  memberPromote(ID: bigint): Promise<etcdserverpb.MemberPromoteResponse> {
    const bytes = etcdserverpb.encodeMemberPromoteRequest({ ID });
    return this.#call('Cluster/MemberPromote', bytes, etcdserverpb.decodeMemberPromoteResponse);
  }

  memberList(): Promise<etcdserverpb.MemberListResponse> {
    const bytes = etcdserverpb.encodeMemberListRequest({ linearizable: true });
    return this.#call('Cluster/MemberList', bytes, etcdserverpb.decodeMemberListResponse);
  }

  memberRemove(ID: bigint): Promise<etcdserverpb.MemberRemoveResponse> {
    const bytes = etcdserverpb.encodeMemberRemoveRequest({ ID });
    return this.#call('Cluster/MemberRemove', bytes, etcdserverpb.decodeMemberRemoveResponse);
  }

  async userAdd(request: Init<etcdserverpb.AuthUserAddRequest>): Promise<void> {
    const bytes = etcdserverpb.encodeAuthUserAddRequest(request);
    await this.#call('Auth/UserAdd', bytes, etcdserverpb.decodeAuthUserAddResponse);
  }

  /** One keep-alive on a stream of its own. */
  async leaseKeepAliveOnce(id: bigint): Promise<etcdserverpb.LeaseKeepAliveResponse> {
    const path = '/etcdserverpb.Lease/LeaseKeepAlive';
    const stream = this.#channel.makeBidiStreamRequest(path, toBuffer, same, this.#deadline());
    try {
      stream.write(etcdserverpb.encodeLeaseKeepAliveRequest({ ID: id }));
      for await (const bytes of answers(stream, path)) return etcdserverpb.decodeLeaseKeepAliveResponse(bytes);
      throw new EtcdError(status.UNKNOWN, 'the stream ended without an answer', path);
    } finally {
      stream.cancel();
    }
  }

  /** One watcher on a stream of its own. The first answer is `created`. Leaving the loop ends the watch. */
  async *watch(
    create: Init<etcdserverpb.WatchCreateRequest>,
    signal?: AbortSignal,
  ): AsyncGenerator<etcdserverpb.WatchResponse> {
    const path = '/etcdserverpb.Watch/Watch';
    const stream = this.#channel.makeBidiStreamRequest(path, toBuffer, same, new Metadata());
    const stop = (): void => stream.cancel();
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    try {
      stream.write(etcdserverpb.encodeWatchRequest({ createRequest: create }));
      for await (const bytes of answers(stream, path)) yield etcdserverpb.decodeWatchResponse(bytes);
    } finally {
      signal?.removeEventListener('abort', stop);
      stream.cancel();
    }
  }

  close(): void {
    this.#channel.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #deadline(): { deadline: number } {
    return { deadline: Date.now() + this.#deadlineMs };
  }

  #call<Response>(
    method: string,
    request: Uint8Array,
    decode: Decode<Response>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const path = `/etcdserverpb.${method}`;
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    return new Promise((resolve, reject) => {
      this.#channel.makeUnaryRequest(path, toBuffer, same, request, metadata, this.#deadline(), (error, bytes) => {
        if (error !== null) reject(new EtcdError(error.code, error.details, path, { cause: error }));
        else if (bytes === undefined) reject(new EtcdError(status.UNKNOWN, 'no answer and no error', path));
        else resolve(decode(bytes));
      });
    });
  }
}

async function* answers(stream: ClientDuplexStream<Uint8Array, Buffer>, path: string): AsyncGenerator<Buffer> {
  try {
    for await (const bytes of stream) {
      if (!Buffer.isBuffer(bytes)) throw new Error('a message that is no buffer');
      yield bytes;
    }
  } catch (error) {
    throw isServiceError(error) ? new EtcdError(error.code, error.details, path, { cause: error }) : error;
  }
}

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' && 'details' in error;

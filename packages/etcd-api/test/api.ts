import { epoch, utf8 } from '@engram/core';
import { type Backend, openBackend } from '@engram/backend';
import { etcdServices, LoneMember, type ServicesOptions } from '@engram/etcd-api';
import { Loop, StepPace } from '@engram/loop';
import { Prng, quiet, SimClock } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import {
  callUnary,
  etcdserverpb,
  gatherMessage,
  type Init,
  intercepted,
  type Interceptor,
  type MethodTable,
  type mvccpb,
  type RpcStatus,
  statusOf,
} from '@engram/wire';
import { FakeCall, type Metadata } from './fake-call.ts';
import { WatchClient } from './watch-client.ts';

export const member = {
  clusterId: 0xc1n,
  memberId: 0x1dn,
  name: 'node-1',
  peerUrls: ['http://127.0.0.1:2380'],
  clientUrls: ['http://127.0.0.1:2379'],
  raftTerm: 4,
};

export interface ApiOptions {
  readonly limits?: ServicesOptions['limits'];
  readonly quotaBytes?: number;
  readonly watchProgressIntervalMs?: number;
  readonly services?: Partial<ServicesOptions>;
  readonly interceptors?: readonly Interceptor[];
  readonly storage?: MemoryStorage;
  readonly epoch?: number;
  /** Makes the owner of the event loop's time, for the store and the services. */
  readonly loop?: (clock: SimClock) => Loop;
}

/** A whole member without its sockets. Tests call it with messages. */
export class Api implements AsyncDisposable {
  readonly clock: SimClock;
  readonly backend: Backend;
  readonly methods: MethodTable;
  readonly #calls: FakeCall[] = [];

  private constructor(clock: SimClock, backend: Backend, methods: MethodTable) {
    this.clock = clock;
    this.backend = backend;
    this.methods = methods;
  }

  static async open(options: ApiOptions = {}): Promise<Api> {
    const clock = new SimClock();
    const loop = options.loop?.(clock) ?? new Loop({ clock, pace: new StepPace(4000) });
    const backend = await openBackend({
      storage: options.storage ?? new MemoryStorage(),
      epoch: epoch(options.epoch ?? 1),
      clock,
      random: new Prng(5),
      logger: quiet,
      memberId: member.memberId,
      onFatal: (error) => {
        throw error;
      },
      loop,
      quotaBytes: options.quotaBytes ?? 2 * 1024 ** 3,
      ...(options.watchProgressIntervalMs === undefined
        ? {}
        : { watchProgressIntervalMs: options.watchProgressIntervalMs }),
    });
    const methods = etcdServices({
      store: backend,
      cluster: new LoneMember({
        clusterId: member.clusterId,
        member: { ...member, id: member.memberId },
        term: member.raftTerm,
      }),
      version: '3.6.16',
      clock,
      loop,
      logger: quiet,
      ...(options.limits === undefined ? {} : { limits: options.limits }),
      ...options.services,
    });
    return new Api(clock, backend, intercepted(methods, options.interceptors ?? []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const call of this.#calls) call.cancel();
    await this.backend[Symbol.asyncDispose]();
  }

  async call(path: string, request: Uint8Array, metadata?: Metadata): Promise<Uint8Array> {
    const method = this.methods.get(path);
    if (method?.kind !== 'unary') throw new Error(`${path} is no unary method`);
    return gatherMessage(await callUnary(method, request, new FakeCall(metadata), () => this.clock.nowMs()));
  }

  bidi(path: string, metadata?: Metadata): FakeCall {
    const method = this.methods.get(path);
    if (method?.kind !== 'bidi') throw new Error(`${path} is no bidi method`);
    const call = FakeCall.bidi(method, metadata);
    this.#calls.push(call);
    return call;
  }

  serverStream(path: string, request: Uint8Array, metadata?: Metadata): FakeCall {
    const method = this.methods.get(path);
    if (method?.kind !== 'server-stream') throw new Error(`${path} is no server stream`);
    const call = FakeCall.serverStream(method, request, metadata);
    this.#calls.push(call);
    return call;
  }

  watch(metadata?: Metadata): WatchClient {
    return new WatchClient(this.bidi('/etcdserverpb.Watch/Watch', metadata), this.clock);
  }

  async range(request: Init<etcdserverpb.RangeRequest>): Promise<etcdserverpb.RangeResponse> {
    const bytes = await this.call('/etcdserverpb.KV/Range', etcdserverpb.encodeRangeRequest(request));
    return etcdserverpb.decodeRangeResponse(bytes);
  }

  async put(request: Init<etcdserverpb.PutRequest>): Promise<etcdserverpb.PutResponse> {
    const bytes = await this.call('/etcdserverpb.KV/Put', etcdserverpb.encodePutRequest(request));
    return etcdserverpb.decodePutResponse(bytes);
  }

  async deleteRange(request: Init<etcdserverpb.DeleteRangeRequest>): Promise<etcdserverpb.DeleteRangeResponse> {
    const bytes = await this.call('/etcdserverpb.KV/DeleteRange', etcdserverpb.encodeDeleteRangeRequest(request));
    return etcdserverpb.decodeDeleteRangeResponse(bytes);
  }

  async txn(request: Init<etcdserverpb.TxnRequest>): Promise<etcdserverpb.TxnResponse> {
    const bytes = await this.call('/etcdserverpb.KV/Txn', etcdserverpb.encodeTxnRequest(request));
    return etcdserverpb.decodeTxnResponse(bytes);
  }

  async compact(revision: number, physical = false): Promise<etcdserverpb.CompactionResponse> {
    const request = etcdserverpb.encodeCompactionRequest({ revision, physical });
    return etcdserverpb.decodeCompactionResponse(await this.call('/etcdserverpb.KV/Compact', request));
  }

  async grant(TTL: number, ID = 0n): Promise<etcdserverpb.LeaseGrantResponse> {
    const request = etcdserverpb.encodeLeaseGrantRequest({ TTL, ID });
    return etcdserverpb.decodeLeaseGrantResponse(await this.call('/etcdserverpb.Lease/LeaseGrant', request));
  }

  async revoke(ID: bigint): Promise<etcdserverpb.LeaseRevokeResponse> {
    const request = etcdserverpb.encodeLeaseRevokeRequest({ ID });
    return etcdserverpb.decodeLeaseRevokeResponse(await this.call('/etcdserverpb.Lease/LeaseRevoke', request));
  }

  async timeToLive(ID: bigint, keys = false): Promise<etcdserverpb.LeaseTimeToLiveResponse> {
    const request = etcdserverpb.encodeLeaseTimeToLiveRequest({ ID, keys });
    return etcdserverpb.decodeLeaseTimeToLiveResponse(await this.call('/etcdserverpb.Lease/LeaseTimeToLive', request));
  }

  async alarm(request: Init<etcdserverpb.AlarmRequest>): Promise<etcdserverpb.AlarmResponse> {
    const bytes = await this.call('/etcdserverpb.Maintenance/Alarm', etcdserverpb.encodeAlarmRequest(request));
    return etcdserverpb.decodeAlarmResponse(bytes);
  }

  async status(): Promise<etcdserverpb.StatusResponse> {
    return etcdserverpb.decodeStatusResponse(await this.call('/etcdserverpb.Maintenance/Status', new Uint8Array(0)));
  }

  async hashKv(revision: number): Promise<etcdserverpb.HashKVResponse> {
    const request = etcdserverpb.encodeHashKVRequest({ revision });
    return etcdserverpb.decodeHashKVResponse(await this.call('/etcdserverpb.Maintenance/HashKV', request));
  }

  /** Puts each key with itself as the value, in order. Returns the last revision. */
  async fill(...keys: readonly string[]): Promise<number> {
    let revision = 1;
    for (const key of keys) revision = (await this.put({ key: b(key), value: b(key) })).header!.revision;
    return revision;
  }
}

export const b = utf8;
export const t = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
export const keysOf = (response: { readonly kvs: readonly mvccpb.KeyValue[] }): string[] =>
  response.kvs.map((kv) => t(kv.key));
export const ZERO = Uint8Array.of(0);
export const ALL = { key: ZERO, rangeEnd: ZERO };

/** The status that a client gets for a call that fails. */
export async function failure(call: Promise<unknown> | (() => unknown)): Promise<RpcStatus> {
  try {
    await (typeof call === 'function' ? call() : call);
  } catch (error) {
    return statusOf(error);
  }
  throw new Error('the call did not fail');
}

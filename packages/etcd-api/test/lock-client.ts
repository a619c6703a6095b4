import { utf8 } from '@engram/core';
import {
  callUnary,
  gatherMessage,
  type MethodTable,
  type mvccpb,
  type RpcStatus,
  statusOf,
  v3electionpb,
  v3lockpb,
} from '@engram/wire';
import { FakeCall, type Metadata } from './fake-call.ts';

/** A unary call that may take as long as others want. */
export class PendingCall<Answer> {
  readonly call: FakeCall;
  readonly done: Promise<Answer>;
  /** Undefined while it waits. */
  answer: Answer | undefined;
  status: RpcStatus | undefined;

  constructor(
    methods: MethodTable,
    path: string,
    request: Uint8Array,
    decode: (bytes: Uint8Array) => Answer,
    call: FakeCall,
  ) {
    this.call = call;
    const method = methods.get(path);
    if (method?.kind !== 'unary') throw new Error(`${path} is no unary method`);
    const ask = async (): Promise<Answer> =>
      decode(new Uint8Array(await gatherMessage(await callUnary(method, request, call, () => 0))));
    this.done = ask();
    this.done.then(
      (answer) => {
        this.answer = answer;
      },
      (error: unknown) => {
        this.status = statusOf(error);
      },
    );
  }

  /** Its text if it was refused. */
  get state(): 'waits' | 'answered' | string {
    if (this.status !== undefined) return this.status.message;
    return this.answer === undefined ? 'waits' : 'answered';
  }

  /** The client no longer waits. */
  cancel(): void {
    this.call.cancel();
  }
}

/** A client of the services Lock and Election. Each call is one of its own: it does not wait for those before it. */
export class LockClient {
  readonly #methods: MethodTable;
  readonly #metadata: Metadata;

  constructor(methods: MethodTable, metadata: Metadata = {}) {
    this.#methods = methods;
    this.#metadata = metadata;
  }

  lock(name: string, lease = 0n): PendingCall<v3lockpb.LockResponse> {
    const request = v3lockpb.encodeLockRequest({ name: utf8(name), lease });
    return this.#call('/v3lockpb.Lock/Lock', request, v3lockpb.decodeLockResponse);
  }

  unlock(key: string): PendingCall<v3lockpb.UnlockResponse> {
    const request = v3lockpb.encodeUnlockRequest({ key: utf8(key) });
    return this.#call('/v3lockpb.Lock/Unlock', request, v3lockpb.decodeUnlockResponse);
  }

  campaign(name: string, lease: bigint, value: string): PendingCall<v3electionpb.CampaignResponse> {
    const request = v3electionpb.encodeCampaignRequest({ name: utf8(name), lease, value: utf8(value) });
    return this.#call('/v3electionpb.Election/Campaign', request, v3electionpb.decodeCampaignResponse);
  }

  proclaim(leader: v3electionpb.LeaderKey | undefined, value: string): PendingCall<v3electionpb.ProclaimResponse> {
    const request = v3electionpb.encodeProclaimRequest({ ...(leader && { leader }), value: utf8(value) });
    return this.#call('/v3electionpb.Election/Proclaim', request, v3electionpb.decodeProclaimResponse);
  }

  resign(leader: v3electionpb.LeaderKey | undefined): PendingCall<v3electionpb.ResignResponse> {
    const request = v3electionpb.encodeResignRequest({ ...(leader && { leader }) });
    return this.#call('/v3electionpb.Election/Resign', request, v3electionpb.decodeResignResponse);
  }

  leader(name: string): PendingCall<v3electionpb.LeaderResponse> {
    const request = v3electionpb.encodeLeaderRequest({ name: utf8(name) });
    return this.#call('/v3electionpb.Election/Leader', request, v3electionpb.decodeLeaderResponse);
  }

  observe(name: string): FakeCall {
    const method = this.#methods.get('/v3electionpb.Election/Observe');
    if (method?.kind !== 'server-stream') throw new Error('Observe is no server stream');
    return FakeCall.serverStream(method, v3electionpb.encodeLeaderRequest({ name: utf8(name) }), this.#metadata);
  }

  #call<Answer>(path: string, request: Uint8Array, decode: (bytes: Uint8Array) => Answer): PendingCall<Answer> {
    return new PendingCall(this.#methods, path, request, decode, new FakeCall(this.#metadata));
  }
}

/** What Observe has shown: `key=value` of each message. */
export const observed = (call: FakeCall): readonly string[] =>
  call.sent.map((bytes) => {
    const { kv } = v3electionpb.decodeLeaderResponse(bytes);
    return kv === undefined ? 'nobody' : shown(kv);
  });

const shown = ({ key, value }: mvccpb.KeyValue): string =>
  `${Buffer.from(key).toString()}=${Buffer.from(value).toString()}`;

import type { AuthView, Caller, LeaseGrant, Store } from '@engram/backend';
import { GrpcCode, type LeaseId, leaseId, type Span } from '@engram/core';
import { byteSteps, type PureJob } from '@engram/loop';
import {
  decodeKeepAlive,
  encodeKeepAlive,
  etcdserverpb,
  type Message,
  type Method,
  type RpcStatus,
  type StreamCall,
  type StreamHandler,
  statusOf,
  WireError,
} from '@engram/wire';
import type { CallAdmission } from './call-admission.ts';
import { RpcCaller } from './rpc-caller.ts';
import type { ServiceParts } from './service-parts.ts';

const SERVICE = '/etcdserverpb.Lease';
/** Renewals of one stream that may wait for leases that are about to end. */
const WAITING_MAX = 10_000;
/** What is encoded at a time: so many leases or keys, or fewer keys that have so many bytes. */
const PART_ITEMS = 1_000;
const PART_BYTES = 64 * 1024;

export function leaseMethods(parts: ServiceParts, admission: CallAdmission): readonly (readonly [string, Method])[] {
  const service = new LeaseService(parts);
  return [
    [`${SERVICE}/LeaseGrant`, admission.unary((request, call) => service.grant(request, new RpcCaller(call)))],
    [`${SERVICE}/LeaseRevoke`, admission.unary((request, call) => service.revoke(request, new RpcCaller(call)))],
    [
      `${SERVICE}/LeaseTimeToLive`,
      admission.unary((request, call) => service.timeToLive(request, new RpcCaller(call))),
    ],
    [`${SERVICE}/LeaseLeases`, admission.unary((_, call) => service.leases(new RpcCaller(call)))],
    [`${SERVICE}/LeaseKeepAlive`, admission.bidi((call) => new KeepAliveCall(parts, call))],
  ];
}

class LeaseService {
  readonly #parts: ServiceParts;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  async grant(request: Uint8Array, caller: RpcCaller): Promise<Message> {
    const { ID, TTL } = etcdserverpb.decodeLeaseGrantRequest(request);
    if (caller.isRecorded) caller.does('lease_grant', { id: String(ID), ttl: TTL });
    const lease = await this.#parts.store.leaseGrant(leaseId(ID), TTL, caller);
    const header = this.#parts.header();
    return etcdserverpb.encodeLeaseGrantResponse({ header, ID: lease.id, TTL: lease.grantedTtlSeconds });
  }

  async revoke(request: Uint8Array, caller: RpcCaller): Promise<Message> {
    const { ID } = etcdserverpb.decodeLeaseRevokeRequest(request);
    if (caller.isRecorded) caller.does('lease_revoke', { id: String(ID) });
    const revision = await this.#parts.store.leaseRevoke(leaseId(ID), caller);
    return etcdserverpb.encodeLeaseRevokeResponse({ header: this.#parts.header(revision) });
  }

  /** An unknown lease is an answer, not an error. */
  async timeToLive(request: Uint8Array, caller: RpcCaller): Promise<Message> {
    const { ID, keys: withKeys } = etcdserverpb.decodeLeaseTimeToLiveRequest(request);
    const lease = await this.#parts.store.leaseTimeToLive(leaseId(ID), withKeys, caller);
    const head = etcdserverpb.encodeLeaseTimeToLiveResponse({
      header: this.#parts.header(),
      ID,
      TTL: lease?.remainingSeconds ?? -1,
      grantedTTL: lease?.grantedTtlSeconds ?? 0,
    });
    const encode = (keys: readonly Uint8Array[]): Uint8Array => etcdserverpb.encodeLeaseTimeToLiveResponse({ keys });
    return await this.#inParts(this.#parting(head, lease?.keys ?? [], lengthOf, encode), caller);
  }

  async leases(caller: RpcCaller): Promise<Message> {
    const leases = await this.#parts.store.leases('by-remaining', caller);
    const head = etcdserverpb.encodeLeaseLeasesResponse({ header: this.#parts.header() });
    const encode = (part: readonly LeaseGrant[]): Uint8Array =>
      etcdserverpb.encodeLeaseLeasesResponse({ leases: part.map(({ id }) => ({ ID: id })) });
    return await this.#inParts(
      this.#parting(head, leases, () => 0, encode),
      caller,
    );
  }

  #inParts(parting: PureJob<Message>, { client, method, signal }: RpcCaller): Message | Promise<Message> {
    return this.#parts.loop.run({ work: 'client', caller: client, stage: 'encode', method }, parting, signal);
  }

  /** A message whose last field is a long list: parts of a message, one after another, are the message. */
  *#parting<Item>(
    head: Uint8Array,
    items: Iterable<Item>,
    bytesOf: (item: Item) => number,
    encode: (part: readonly Item[]) => Uint8Array,
  ): PureJob<Message> {
    const pieces = [head];
    let part: Item[] = [];
    let bytes = 0;
    for (const item of items) {
      part.push(item);
      bytes += bytesOf(item);
      if (part.length < PART_ITEMS && bytes < PART_BYTES) continue;
      pieces.push(encode(part));
      const steps = part.length + byteSteps(bytes);
      part = [];
      bytes = 0;
      if (this.#parts.loop.shouldYield(steps)) yield;
    }
    if (part.length > 0) pieces.push(encode(part));
    return pieces;
  }
}

const lengthOf = (key: Uint8Array): number => key.length;

function endWith(span: Span, ttl: number | Promise<number>): void {
  if (typeof ttl === 'number') span.end();
  else
    ttl.then(
      () => span.end(),
      (error: unknown) => span.end(error),
    );
}

const tooManyWaiting: RpcStatus = {
  code: GrpcCode.UNAVAILABLE,
  message: 'etcdserver: keepalive stream closed: too many waiting answers',
};

/** A stream of renewals. Each gets one answer, in order, although a renewal may have to wait until its lease is gone. */
class KeepAliveCall implements StreamHandler {
  readonly #parts: ServiceParts;
  readonly #call: StreamCall;
  readonly #caller: Caller;
  /** Below the judge of reads, because the leader judges renewals. */
  readonly #store: Store;
  readonly #users: AuthView;
  /** Settles with the last answer that waits. */
  #tail: Promise<void> | undefined;
  #waiting = 0;
  #halfClosed = false;
  #ended = false;

  constructor(parts: ServiceParts, call: StreamCall) {
    this.#parts = parts;
    this.#call = call;
    this.#caller = new RpcCaller(call);
    this.#store = parts.options.store;
    this.#users = parts.auth.view;
  }

  message(request: Uint8Array): void {
    if (this.#ended) return;
    // Each renewal is judged by who the client is now.
    if (this.#users.enabled) this.#parts.auth.admit(this.#call);
    try {
      this.#renew(decodeKeepAlive(request));
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#end(statusOf(error, 'stream'));
    }
  }

  #renew(id: LeaseId): void {
    if (this.#call.queuedBytes > this.#parts.limits.streamQueueBytesMax || this.#waiting === WAITING_MAX) {
      this.#end(tooManyWaiting);
      return;
    }
    // Read before the renewal: if the lease ended right after, the answer must not show a revision at or after that end.
    const header = this.#parts.headerBytes(this.#store.revision);
    const renewing = this.#call.span?.child('lease_renew', { id: String(id) });
    const ttl = this.#store.leaseKeepAlive(id, this.#caller);
    if (renewing !== undefined) endWith(renewing, ttl);
    if (typeof ttl === 'number' && this.#tail === undefined) this.#call.send(encodeKeepAlive(header, id, ttl));
    else this.#answerInTurn(ttl, header, id);
  }

  #answerInTurn(ttl: number | Promise<number>, header: Uint8Array, id: LeaseId): void {
    const outcome = Promise.allSettled([this.#inTurn(ttl, this.#tail, id)]);
    this.#waiting += 1;
    const tail = outcome.then(([renewed]) => {
      this.#waiting -= 1;
      if (this.#tail === tail) this.#tail = undefined;
      if (this.#ended) return;
      if (renewed.status === 'fulfilled') this.#call.send(encodeKeepAlive(header, id, renewed.value));
      else this.#end(statusOf(renewed.reason));
      if (this.#halfClosed && this.#tail === undefined) this.#end();
    });
    this.#tail = tail;
  }

  /** The TTL, once the answers before it are sent. Renews again what has waited for longer than its lease lives. */
  async #inTurn(ttl: number | Promise<number>, before: Promise<void> | undefined, id: LeaseId): Promise<number> {
    const { clock } = this.#parts.options;
    const askedMs = clock.nowMs();
    const [renewed] = await Promise.allSettled([ttl, before]);
    if (renewed.status === 'rejected') throw renewed.reason;
    const seconds = renewed.value;
    const mayHaveEnded = seconds > 0 && clock.nowMs() - askedMs >= seconds * 1000;
    return mayHaveEnded && !this.#ended ? await this.#store.leaseKeepAlive(id, this.#caller) : seconds;
  }

  halfClosed(): void {
    this.#halfClosed = true;
    if (this.#tail === undefined) this.#end();
  }

  drained(): void {}

  closed(): void {
    this.#ended = true;
  }

  #end(...status: Parameters<StreamCall['end']>): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#call.end(...status);
  }
}

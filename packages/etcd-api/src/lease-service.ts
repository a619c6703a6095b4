import type { LeaseGrant } from '@engram/backend';
import { leaseId } from '@engram/core';
import { byteSteps, type PureJob } from '@engram/loop';
import { etcdserverpb, type Message, type Method } from '@engram/wire';
import type { CallAdmission } from './call-admission.ts';
import { KeepAliveCall } from './keep-alive-call.ts';
import { RpcCaller } from './rpc-caller.ts';
import type { ServiceParts } from './service-parts.ts';

const SERVICE = '/etcdserverpb.Lease';
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

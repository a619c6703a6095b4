import type { LogPosition } from '@engram/core';
import type { PeerAddress, PeerCaller, PeerNetwork, PeerService } from '@engram/member';
import { peerpb } from '@engram/member/testing';
import { WireError } from '@engram/protobuf';
import type { LogBatch } from '@engram/storage';

/*
 * A member of the version before, as the others see it: the fields that this version has added to `proto/peer` are neither
 * sent nor read by it. Raft's messages and the records of the log have the same form in both versions. In TiKV a batch has a
 * wall-clock mark more, which the version before skips: the tests of storage-tikv show it.
 */

/** What cannot be read is passed on as it is: who gets it refuses it. */
function ifReadable(bytes: Uint8Array, form: (bytes: Uint8Array) => Uint8Array): Uint8Array {
  try {
    return form(bytes);
  } catch (error) {
    if (error instanceof WireError) return bytes;
    throw error;
  }
}

/** A request as the version before sends it, and as it reads one. A call that it does not know is none. */
function requestOfBefore(bytes: Uint8Array): Uint8Array {
  const request = peerpb.decodeRequest(bytes);
  return peerpb.encodeRequest({
    ...request,
    recalls: false,
    hashKv: undefined,
    trace: new Uint8Array(0),
    node: false,
    authChange: undefined,
    login: undefined,
  });
}

function answerOfBefore(bytes: Uint8Array): Uint8Array {
  const answer = peerpb.decodeAnswer(bytes);
  const renewals = answer.renewals.map((renewal) => ({ ...renewal, errorText: '' }));
  return peerpb.encodeAnswer({
    ...answer,
    renewals,
    errorText: '',
    recallAfter: 0,
    hash: undefined,
    knowsAuth: false,
    raftIndex: 0,
  });
}

async function* batchesOfBefore(batches: AsyncIterable<LogBatch>): AsyncGenerator<LogBatch> {
  for await (const { first, records } of batches) yield { first, records };
}

/** What a member of the version before says to others, and hears of them. */
export class NetworkOfBefore implements PeerNetwork {
  readonly #network: PeerNetwork;

  constructor(network: PeerNetwork) {
    this.#network = network;
  }

  async call(member: bigint, request: Uint8Array, signal?: AbortSignal): Promise<Uint8Array> {
    return ifReadable(await this.#network.call(member, requestOfBefore(request), signal), answerOfBefore);
  }

  follow(member: bigint, from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch> {
    return batchesOfBefore(this.#network.follow(member, from, signal));
  }

  send(member: bigint, bytes: Uint8Array): void {
    this.#network.send(member, bytes);
  }

  setMembers(members: readonly PeerAddress[]): void {
    this.#network.setMembers(members);
  }
}

/** What a member of the version before does for others. */
export class ServiceOfBefore implements PeerService {
  readonly #service: PeerService;

  constructor(service: PeerService) {
    this.#service = service;
  }

  admission(member: bigint): ReturnType<PeerService['admission']> {
    return this.#service.admission(member);
  }

  message(bytes: Uint8Array, speaker: Parameters<PeerService['message']>[1]): string | undefined {
    return this.#service.message(bytes, speaker);
  }

  connected(member: bigint): void {
    this.#service.connected(member);
  }

  disconnected(member: bigint): void {
    this.#service.disconnected(member);
  }

  gone(member: bigint): void {
    this.#service.gone(member);
  }

  async call(request: Uint8Array, caller: PeerCaller): Promise<Uint8Array> {
    return answerOfBefore(await this.#service.call(ifReadable(request, requestOfBefore), caller));
  }

  follow(from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch> {
    return batchesOfBefore(this.#service.follow(from, signal));
  }
}

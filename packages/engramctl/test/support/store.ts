import { readFileSync, writeFileSync } from 'node:fs';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { utf8 } from '@engram/core';
import { etcdserverpb as pb } from '@engram/wire';

const same = (bytes: Buffer): Buffer => bytes;
const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes);

/** Writes to a store, for the tests: grpc-js alone, nothing of the program. */
export class Store implements Disposable {
  readonly #client: Client;
  readonly #metadata = new Metadata();

  constructor(address: string, token?: string) {
    this.#client = new Client(address, credentials.createInsecure());
    if (token !== undefined) this.#metadata.set('token', token);
  }

  call(path: string, request: Uint8Array): Promise<Buffer> {
    return new Promise((resolve, reject) =>
      this.#client.makeUnaryRequest(
        `/etcdserverpb.${path}`,
        toBuffer,
        same,
        request,
        this.#metadata,
        {},
        (error, answer) => (error === null ? resolve(answer ?? Buffer.alloc(0)) : reject(error)),
      ),
    );
  }

  /** The revision of the write. */
  async put(key: string | Uint8Array, value: string | Uint8Array, lease = 0n): Promise<number> {
    const [keyBytes, valueBytes] = [key, value].map((each) => (typeof each === 'string' ? utf8(each) : each));
    const request = pb.encodePutRequest({ key: keyBytes!, value: valueBytes!, lease });
    return pb.decodePutResponse(await this.call('KV/Put', request)).header?.revision ?? 0;
  }

  async remove(key: string): Promise<number> {
    const request = pb.encodeDeleteRangeRequest({ key: utf8(key) });
    return pb.decodeDeleteRangeResponse(await this.call('KV/DeleteRange', request)).header?.revision ?? 0;
  }

  async compact(revision: number): Promise<void> {
    await this.call('KV/Compact', pb.encodeCompactionRequest({ revision, physical: true }));
  }

  async grant(id: bigint): Promise<void> {
    await this.call('Lease/LeaseGrant', pb.encodeLeaseGrantRequest({ ID: id, TTL: 3600 }));
  }

  async raiseAlarm(memberID: bigint, alarm: number): Promise<void> {
    await this.call('Maintenance/Alarm', pb.encodeAlarmRequest({ action: 1, memberID, alarm }));
  }

  /** Writes a snapshot, as `etcdctl snapshot save` does. */
  async saveSnapshot(path: string): Promise<void> {
    const parts: Uint8Array[] = [];
    const call = this.#client.makeServerStreamRequest(
      '/etcdserverpb.Maintenance/Snapshot',
      toBuffer,
      same,
      new Uint8Array(0),
      this.#metadata,
    );
    for await (const bytes of call) parts.push(pb.decodeSnapshotResponse(bytes).blob);
    writeFileSync(path, Buffer.concat(parts));
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

/** Keeps the first bytes of a file. */
export function cutFile(from: string, to: string, bytes: number): void {
  const whole = readFileSync(from);
  writeFileSync(to, whole.subarray(0, bytes < 0 ? whole.length + bytes : bytes));
}

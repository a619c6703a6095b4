import { etcdserverpb as pb } from '@engram/wire';
import type { EtcdClient } from './etcd-client.ts';
import { MigrationError } from './migration-error.ts';
import type { AuthMark, Source } from './stores.ts';

const ALL = Uint8Array.of(0);
const ONE_KEY = pb.encodeRangeRequest({ key: ALL, countOnly: true });
const PROGRESS = pb.encodeWatchRequest({ progressRequest: {} });

/** An etcd, or any store with its API, that is followed. */
export class EtcdSource implements Source {
  readonly #client: EtcdClient;

  constructor(client: EtcdClient) {
    this.#client = client;
  }

  async *watch(from: number, signal: AbortSignal): AsyncGenerator<pb.WatchResponse> {
    // In fragments: the changes of a thousand revisions may be more than a message may have.
    const begin = pb.encodeWatchRequest({
      createRequest: { key: ALL, rangeEnd: ALL, startRevision: from, fragment: true },
    });
    const messages = { begin: [begin], each: PROGRESS };
    const path = '/etcdserverpb.Watch/Watch';
    for await (const response of this.#client.stream(path, messages, pb.decodeWatchResponse, signal)) {
      this.#client.checkCluster(response.header);
      if (response.canceled) throw this.#canceled(response, from);
      yield response;
    }
  }

  #canceled({ compactRevision, cancelReason }: pb.WatchResponse, from: number): MigrationError {
    const { endpoint } = this.#client;
    if (compactRevision === 0) {
      const fault = this.#client.endsLogin(cancelReason) ? 'interrupted' : 'refused';
      return new MigrationError(fault, `${endpoint} has ended the watch: ${cancelReason}`);
    }
    const gone = `the source has compacted its history up to ${compactRevision}, and ${from} is due`;
    return new MigrationError('compacted', `${gone}: begin again, in an empty data directory or prefix`);
  }

  async revision(signal: AbortSignal): Promise<number> {
    const { header } = await this.#client.unary('/etcdserverpb.KV/Range', ONE_KEY, pb.decodeRangeResponse, signal);
    return header?.revision ?? 0;
  }

  async keys(revision: number, signal: AbortSignal): Promise<number> {
    const request = pb.encodeRangeRequest({ key: ALL, rangeEnd: ALL, countOnly: true, revision });
    return (await this.#client.unary('/etcdserverpb.KV/Range', request, pb.decodeRangeResponse, signal)).count;
  }

  async leases(signal: AbortSignal): Promise<readonly bigint[]> {
    const path = '/etcdserverpb.Lease/LeaseLeases';
    const request = pb.encodeLeaseLeasesRequest({});
    const { leases } = await this.#client.unary(path, request, pb.decodeLeaseLeasesResponse, signal);
    return leases.map(({ ID }) => ID);
  }

  async leaseTtl(id: bigint, signal: AbortSignal): Promise<number | undefined> {
    const path = '/etcdserverpb.Lease/LeaseTimeToLive';
    const request = pb.encodeLeaseTimeToLiveRequest({ ID: id });
    const { grantedTTL } = await this.#client.unary(path, request, pb.decodeLeaseTimeToLiveResponse, signal);
    // 0 for a lease that is not there. What is left of its time may be negative for one that is, until the leader ends it.
    return grantedTTL <= 0 ? undefined : grantedTTL;
  }

  async auth(signal: AbortSignal): Promise<AuthMark> {
    const path = '/etcdserverpb.Auth/AuthStatus';
    const request = pb.encodeAuthStatusRequest({});
    const { enabled, authRevision } = await this.#client.unary(path, request, pb.decodeAuthStatusResponse, signal);
    return { enabled, authRevision };
  }

  /** The bytes of a snapshot, as `etcdctl snapshot save` writes them. */
  async *snapshot(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const begin = { begin: [pb.encodeSnapshotRequest({})] };
    let left = 1;
    const path = '/etcdserverpb.Maintenance/Snapshot';
    for await (const response of this.#client.stream(path, begin, pb.decodeSnapshotResponse, signal)) {
      left = response.remainingBytes;
      yield response.blob;
    }
    if (left > 0) throw new MigrationError('interrupted', `${this.#client.endpoint} has cut its snapshot`);
  }
}

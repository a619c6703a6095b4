import { type Clock, GrpcCode, type Logger, type Random } from '@engram/core';
import { type Codec, decode, encode } from '@engram/protobuf';
import { type Timestamp, type TimestampError, TimestampOracle } from '@engram/tso';
import { Backoffer } from '../backoff/backoffer.ts';
import { TikvError } from '../errors.ts';
import type { Observer } from '../observer.ts';
import * as pdpb from '../proto/gen/pdpb.ts';
import type { Store } from '../proto/gen/metapb.ts';
import type { Call } from '../runtime/call.ts';
import { Gathering } from '../transport/gathering.ts';
import { isTransportError, type TransportError, type Transport } from '../transport/transport.ts';
import { PdMembers } from './pd-members.ts';
import { PdTimestampStream } from './pd-timestamp-stream.ts';

/** A region as PD knows it. `leader` may be absent during an election. Keys are encoded. */
export type PdRegion = pdpb.Region;

interface Header {
  readonly header?: pdpb.RequestHeaderInit | undefined;
}
interface Answer {
  readonly header: pdpb.ResponseHeader | undefined;
}

const REGIONS_NOT_COVERED = pdpb.ErrorType.REGIONS_NOT_CONTAIN_ALL_KEY_RANGE;

/** The calls to PD's leader, repeated during elections. Rejects with TikvError. */
export class PdClient {
  readonly members: PdMembers;
  readonly oracle: TimestampOracle;
  readonly #clock: Clock;
  readonly #observer: Observer;
  readonly #random: Random;
  readonly #timeoutMs: number;
  readonly #budgetMs: number;
  /** Methods that PD does not implement. */
  readonly #unimplemented = new Set<string>();

  constructor(options: {
    transport: Transport;
    clock: Clock;
    random: Random;
    observer: Observer;
    logger: Logger | undefined;
    seeds: readonly string[];
    secure: boolean;
    clusterId: bigint | undefined;
    timeoutMs: number;
    budgetMs: number;
    closing: AbortSignal;
    onFatal: (error: TikvError) => void;
  }) {
    const { clock, observer, logger, secure, clusterId, timeoutMs, closing, onFatal } = options;
    this.#clock = clock;
    this.#observer = observer;
    this.#random = options.random;
    this.#timeoutMs = timeoutMs;
    this.#budgetMs = options.budgetMs;
    this.members = new PdMembers(options.transport, clock, options.seeds, { logger, secure, clusterId });
    this.oracle = new TimestampOracle({
      stream: new PdTimestampStream(this.members, { clock, timeoutMs, closing }),
      pacing: new Gathering(),
      clock,
      translate: ofOracle,
      onDealt: (count, durationMs) => observer.timestamps?.(count, durationMs),
      onFatal: (error) => onFatal(error instanceof TikvError ? error : new TikvError('pd-error', error.message)),
    });
  }

  close(): void {
    this.oracle.close();
    this.members.close();
  }

  /** Undefined if PD knows no region there (yet). `previous`: the region before the one that holds `key`. */
  async getRegion(key: Uint8Array, previous: boolean, call: Call): Promise<PdRegion | undefined> {
    const method = previous ? 'GetPrevRegion' : 'GetRegion';
    const answer = await this.#ask(
      method,
      pdpb.GetRegionRequestCodec,
      pdpb.GetRegionResponseCodec,
      { regionKey: key },
      call,
    );
    return answer.region === undefined ? undefined : (answer as PdRegion);
  }

  /** At most `limit` regions from `start` on, in order. There may be holes between them. */
  async scanRegions(start: Uint8Array, end: Uint8Array, limit: number, call: Call): Promise<readonly PdRegion[]> {
    if (!this.#unimplemented.has('BatchScanRegions')) {
      try {
        const request = { ranges: [{ startKey: start, endKey: end }], limit, containAllKeyRange: false };
        return (
          await this.#ask(
            'BatchScanRegions',
            pdpb.BatchScanRegionsRequestCodec,
            pdpb.BatchScanRegionsResponseCodec,
            request,
            call,
          )
        ).regions;
      } catch (error) {
        if (!isUnimplemented(error)) throw error;
        this.#unimplemented.add('BatchScanRegions');
      }
    }
    const request = { startKey: start, endKey: end, limit };
    const answer = await this.#ask(
      'ScanRegions',
      pdpb.ScanRegionsRequestCodec,
      pdpb.ScanRegionsResponseCodec,
      request,
      call,
    );
    if (answer.regions.length > 0) return answer.regions;
    return answer.regionMetas.map((region, at) => ({
      region,
      leader: answer.leaders[at],
      downPeers: [],
      pendingPeers: [],
    }));
  }

  /** Undefined if there is no such store. */
  async getStore(storeId: number, call: Call): Promise<Store | undefined> {
    try {
      return (await this.#ask('GetStore', pdpb.GetStoreRequestCodec, pdpb.GetStoreResponseCodec, { storeId }, call))
        .store;
    } catch (error) {
      if (error instanceof TikvError && error.code === 'pd-error' && /not found/i.test(error.message)) return undefined;
      throw error;
    }
  }

  async getStores(call: Call): Promise<readonly Store[]> {
    const request = { excludeTombstoneStores: true };
    return (
      await this.#ask('GetAllStores', pdpb.GetAllStoresRequestCodec, pdpb.GetAllStoresResponseCodec, request, call)
    ).stores;
  }

  async scatterRegions(regionsId: readonly number[], group: string, call: Call): Promise<number> {
    const request = { regionsId, group, retryLimit: 5 };
    return (
      await this.#ask('ScatterRegion', pdpb.ScatterRegionRequestCodec, pdpb.ScatterRegionResponseCodec, request, call)
    ).finishedPercentage;
  }

  /** The state of PD's operator on a region: pdpb.OperatorStatus and a description. */
  async getOperator(regionId: number, call: Call): Promise<{ readonly status: number; readonly description: string }> {
    const answer = await this.#ask(
      'GetOperator',
      pdpb.GetOperatorRequestCodec,
      pdpb.GetOperatorResponseCodec,
      { regionId },
      call,
    );
    return { status: answer.status, description: Buffer.from(answer.desc).toString('utf8') };
  }

  async getGcSafePoint(call: Call): Promise<Timestamp> {
    return (
      await this.#ask('GetGCSafePoint', pdpb.GetGCSafePointRequestCodec, pdpb.GetGCSafePointResponseCodec, {}, call)
    ).safePoint;
  }

  async updateGcSafePoint(safePoint: Timestamp, call: Call): Promise<Timestamp> {
    const answer = await this.#ask(
      'UpdateGCSafePoint',
      pdpb.UpdateGCSafePointRequestCodec,
      pdpb.UpdateGCSafePointResponseCodec,
      { safePoint },
      call,
    );
    return answer.newSafePoint;
  }

  /** Announces the safe point that service `id` needs. Returns the lowest of all services. A ttl of 0 or less removes it. */
  async updateServiceSafePoint(id: string, ttlSeconds: bigint, safePoint: Timestamp, call: Call): Promise<Timestamp> {
    const request = { serviceId: new TextEncoder().encode(id), ttl: ttlSeconds, safePoint };
    const answer = await this.#ask(
      'UpdateServiceGCSafePoint',
      pdpb.UpdateServiceGCSafePointRequestCodec,
      pdpb.UpdateServiceGCSafePointResponseCodec,
      request,
      call,
    );
    return answer.minSafePoint;
  }

  /** One of PD's newer calls for garbage collection, like the four below. An older PD rejects with UNIMPLEMENTED in `cause`. */
  async getGcState(call: Call): Promise<pdpb.GCState | undefined> {
    return (
      await this.#ask('GetGCState', pdpb.GetGCStateRequestCodec, pdpb.GetGCStateResponseCodec, nullKeyspace, call)
    ).gcState;
  }

  async advanceTxnSafePoint(target: Timestamp, call: Call): Promise<pdpb.AdvanceTxnSafePointResponse> {
    return this.#ask(
      'AdvanceTxnSafePoint',
      pdpb.AdvanceTxnSafePointRequestCodec,
      pdpb.AdvanceTxnSafePointResponseCodec,
      { ...nullKeyspace, target },
      call,
    );
  }

  async advanceGcSafePoint(target: Timestamp, call: Call): Promise<Timestamp> {
    const answer = await this.#ask(
      'AdvanceGCSafePoint',
      pdpb.AdvanceGCSafePointRequestCodec,
      pdpb.AdvanceGCSafePointResponseCodec,
      { ...nullKeyspace, target },
      call,
    );
    return answer.newGcSafePoint;
  }

  async setGcBarrier(barrierId: string, barrierTs: Timestamp, ttlSeconds: bigint, call: Call): Promise<void> {
    await this.#ask(
      'SetGCBarrier',
      pdpb.SetGCBarrierRequestCodec,
      pdpb.SetGCBarrierResponseCodec,
      { ...nullKeyspace, barrierId, barrierTs, ttlSeconds },
      call,
    );
  }

  async deleteGcBarrier(barrierId: string, call: Call): Promise<void> {
    await this.#ask(
      'DeleteGCBarrier',
      pdpb.DeleteGCBarrierRequestCodec,
      pdpb.DeleteGCBarrierResponseCodec,
      { ...nullKeyspace, barrierId },
      call,
    );
  }

  async #ask<Request extends Header, RequestFull, Response extends Answer, ResponseInit>(
    method: string,
    requestCodec: Codec<RequestFull, Request>,
    responseCodec: Codec<Response, ResponseInit>,
    request: Request,
    call: Call,
  ): Promise<Response> {
    const backoffer = new Backoffer(call, this.#budgetMs, this.#random, this.#observer);
    for (;;) {
      call.check();
      const channel = await this.members.leader(call);
      const startMs = this.#clock.nowMs();
      let failure: TransportError | TikvError;
      try {
        const bytes = await channel.unary(
          `/pdpb.PD/${method}`,
          encode(requestCodec, { ...request, header: { clusterId: this.members.clusterId } }),
          { timeoutMs: Math.min(this.#timeoutMs, Math.max(1, call.remainingMs())), signal: call.signal },
        );
        const answer = decode(responseCodec, bytes);
        const problem = answer.header?.error;
        this.#observer.pdCall?.(method, this.#clock.nowMs() - startMs, problem === undefined);
        if (problem === undefined || problem.type === pdpb.ErrorType.OK) return answer;
        failure = new TikvError('pd-error', `${method}: ${problem.message}`);
        if (problem.type !== pdpb.ErrorType.NOT_BOOTSTRAPPED && problem.type !== REGIONS_NOT_COVERED) throw failure;
      } catch (error) {
        call.check(error);
        if (!isTransportError(error)) {
          throw error instanceof TikvError ? error : new TikvError('protocol-error', method, { cause: error });
        }
        this.#observer.pdCall?.(method, this.#clock.nowMs() - startMs, false);
        if (error.grpc === GrpcCode.FAILED_PRECONDITION) await this.members.checkLeader(call);
        if (error.grpc === GrpcCode.UNIMPLEMENTED)
          throw new TikvError('pd-error', `${method} is not implemented`, { cause: error });
        failure = error;
        if (error.lost || error.grpc === GrpcCode.DEADLINE_EXCEEDED) this.members.drop(channel);
        const before = this.members.leaderAddress;
        await this.members.refresh(call).catch((refreshError: unknown) => {
          if (!(refreshError instanceof TikvError) || refreshError.code !== 'pd-unreachable') throw refreshError;
        });
        if (this.members.leaderAddress !== before) continue;
      }
      await backoffer.wait('pdRPC', failure);
    }
  }
}

/** The oracle's error as one of this package. */
const ofOracle = (error: TimestampError): TikvError =>
  new TikvError(oracleCodes[error.code], error.detail, { cause: error });

const oracleCodes = {
  closed: 'closed',
  regression: 'timestamp-regression',
  'other-count': 'protocol-error',
  'no-answer': 'pd-unreachable',
} as const;

/** pdpb's "no keyspace", 2^32 - 1. */
const nullKeyspace = { keyspaceScope: { keyspaceId: 0xffff_ffff } };

export const isUnimplemented = (error: unknown): boolean =>
  error instanceof TikvError && isTransportError(error.cause) && error.cause.grpc === GrpcCode.UNIMPLEMENTED;

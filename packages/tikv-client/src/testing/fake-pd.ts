import { type Clock, compareBytes, GrpcCode } from '@engram/core';
import { type Codec, decode, encode } from '@engram/protobuf';
import { composeTimestamp, maxTimestamp, physicalMs, type Timestamp } from '@engram/tso';
import type { StoreInit } from '../proto/gen/metapb.ts';
import * as pd from '../proto/gen/pdpb.ts';
import { TransportError } from '../transport/transport.ts';
import type { StrictChecker } from './strict/strict-checker.ts';
import { decodeBound, type FakeRegion, type FakeRegions, toPdRegion } from './fake-regions.ts';

const text = new TextDecoder();

/** The state that PD's members share: leader, timestamps, stores, view of the regions, safe points. */
export class FakePd {
  clusterId = 7_710_405_686_268_093_919n;
  readonly members: readonly string[];
  /** Index in `members`, -1 during an election. */
  leader = 0;
  bootstrapped = true;
  readonly stores = new Map<number, { address: string; state: number }>();
  /** Methods that this PD does not implement. */
  readonly unimplemented = new Set([
    'BatchScanRegions',
    'GetGCState',
    'AdvanceTxnSafePoint',
    'AdvanceGCSafePoint',
    'SetGCBarrier',
    'DeleteGCBarrier',
  ]);
  /** Offset of PD's clock from `clock`. */
  clockOffsetMs = 1_700_000_000_000;
  gcSafePoint: Timestamp = 0n;
  txnSafePoint: Timestamp = 0n;
  readonly services = new Map<string, { safePoint: Timestamp; endMs: number }>();
  /** Rewrites a timestamp answer, to imitate a broken PD. */
  mangleTso: ((answer: pd.TsoResponseInit) => pd.TsoResponseInit) | undefined;
  readonly #clock: Clock;
  readonly #regions: FakeRegions;
  readonly #strict: StrictChecker;
  #lastTs: Timestamp = 0n;
  /** The first counter of a millisecond. It rises when PD goes back, so that no timestamp is allocated twice. */
  #firstLogical = 0;
  #backMs = 0;

  constructor(clock: Clock, regions: FakeRegions, members: readonly string[], strict: StrictChecker) {
    this.#clock = clock;
    this.#regions = regions;
    this.members = members;
    this.#strict = strict;
  }

  /**
   * From now on allocates timestamps from `ms` before those that it would allocate, as a PD that lost its state, or another one. What it would
   * allocate may lie far before or above its clock: behind a clock that was put back the old timestamps go on.
   */
  goBack(ms: number): void {
    const clockMs = Math.floor(this.#clock.nowMs()) + this.clockOffsetMs;
    const backMs = Math.min(ms, clockMs - physicalMs(this.#lastTs) + ms);
    this.clockOffsetMs -= backMs;
    this.#backMs += backMs;
    this.#lastTs = 0n;
    this.#firstLogical += 20_000;
  }

  /** Whether its timestamps lie below those that it allocated before. */
  get wentBack(): boolean {
    return this.#backMs > 0;
  }

  /** From now on allocates timestamps as if it had never gone back. */
  catchUp(): void {
    this.clockOffsetMs += this.#backMs;
    this.#backMs = 0;
  }

  /** A clock that is behind the timestamps that were allocated goes on from them. */
  repairClock(): void {
    const behindMs = physicalMs(this.#lastTs) - Math.floor(this.#clock.nowMs()) - this.clockOffsetMs;
    if (this.#lastTs > 0n && behindMs > 0) this.clockOffsetMs += behindMs;
  }

  /** The last timestamp that it has allocated; 0 before the first. */
  get newest(): Timestamp {
    return this.#lastTs;
  }

  /** Allocates `count` timestamps and returns the last, without a request. For tests that act as other clients. */
  timestamp(count = 1): Timestamp {
    const now = composeTimestamp(Math.floor(this.#clock.nowMs()) + this.clockOffsetMs, this.#firstLogical);
    const before = maxTimestamp(now, this.#lastTs);
    this.#lastTs = before + BigInt(count);
    this.#strict.timestamps.allocate(before + 1n, this.#lastTs);
    return this.#lastTs;
  }

  tso(bytes: Uint8Array): Uint8Array {
    const request = decode(pd.TsoRequestCodec, bytes);
    if (request.count === 0) throw new TransportError(GrpcCode.UNKNOWN, 'tso count should be positive');
    this.#strict.pdRequest('Tso', request);
    this.#checkCluster(request.header);
    const last = this.timestamp(request.count);
    const answer = {
      header: { clusterId: this.clusterId },
      count: request.count,
      timestamp: { physical: Number(last >> 18n), logical: Number(last & 0x3ffffn) },
    };
    return encode(pd.TsoResponseCodec, this.mangleTso?.(answer) ?? answer);
  }

  #checkCluster(header: pd.RequestHeader | undefined): void {
    if (header?.clusterId !== this.clusterId) {
      throw new TransportError(
        GrpcCode.FAILED_PRECONDITION,
        `mismatch cluster id, need ${this.clusterId} but got ${header?.clusterId ?? 0n}`,
      );
    }
  }

  /** One unary call to one member. Throws TransportError or Refusal. */
  unary(member: number, method: string, bytes: Uint8Array): Uint8Array {
    if (method === 'GetMembers') {
      const urls = this.members.map((address, at) => ({
        name: `pd${at}`,
        memberId: 2n ** 63n + BigInt(at),
        clientUrls: [`http://${address}`],
      }));
      const leader = urls[this.leader];
      return encode(pd.GetMembersResponseCodec, { header: { clusterId: this.clusterId }, members: urls, leader });
    }
    if (this.unimplemented.has(method)) throw new TransportError(GrpcCode.UNIMPLEMENTED, `unknown method ${method}`);
    const serve = <
      Message extends { header: pd.RequestHeader | undefined },
      Init,
      Answer,
      AnswerInit extends { header?: pd.ResponseHeaderInit | undefined },
    >(
      request: Codec<Message, Init>,
      answer: Codec<Answer, AnswerInit>,
      run: (message: Message) => AnswerInit,
    ): Uint8Array => {
      const message = decode(request, bytes);
      this.#strict.pdRequest(method, message);
      this.#checkCluster(message.header);
      if (member !== this.leader) throw new TransportError(GrpcCode.UNAVAILABLE, 'not leader');
      const problem = this.bootstrapped
        ? undefined
        : { type: pd.ErrorType.NOT_BOOTSTRAPPED, message: 'cluster is not bootstrapped' };
      const header = { clusterId: this.clusterId, error: problem };
      const reply = encode(answer, problem === undefined ? { header, ...run(message) } : ({ header } as AnswerInit));
      this.#strict.pdAnswer(method, decode(answer, reply));
      return reply;
    };
    switch (method) {
      case 'GetRegion':
      case 'GetPrevRegion':
        return serve(pd.GetRegionRequestCodec, pd.GetRegionResponseCodec, ({ regionKey }): pd.GetRegionResponseInit => {
          const regions = this.#regions.forPd();
          const at = regions.findIndex((region) => contains(region, decodeBound(regionKey)));
          const region = regions[method === 'GetRegion' ? at : at - 1];
          return region === undefined ? {} : { ...toPdRegion(region) };
        });
      case 'ScanRegions':
        return serve(pd.ScanRegionsRequestCodec, pd.ScanRegionsResponseCodec, ({ startKey, endKey, limit }) => ({
          regions: this.#scan(startKey, endKey, limit),
        }));
      case 'BatchScanRegions':
        return serve(pd.BatchScanRegionsRequestCodec, pd.BatchScanRegionsResponseCodec, ({ ranges, limit }) => ({
          regions: ranges.flatMap(({ startKey, endKey }) => this.#scan(startKey, endKey, limit)),
        }));
      case 'GetStore':
        return serve(pd.GetStoreRequestCodec, pd.GetStoreResponseCodec, ({ storeId }): pd.GetStoreResponseInit => {
          const store = this.#store(storeId);
          if (store !== undefined) return { store };
          return {
            header: {
              clusterId: this.clusterId,
              error: { type: pd.ErrorType.UNKNOWN, message: `invalid store ID ${storeId}, not found` },
            },
          };
        });
      case 'GetAllStores':
        return serve(pd.GetAllStoresRequestCodec, pd.GetAllStoresResponseCodec, () => ({
          stores: [...this.stores.keys()].map((id) => this.#store(id)!),
        }));
      case 'ScatterRegion':
        return serve(pd.ScatterRegionRequestCodec, pd.ScatterRegionResponseCodec, () => ({ finishedPercentage: 100 }));
      case 'GetOperator':
        return serve(pd.GetOperatorRequestCodec, pd.GetOperatorResponseCodec, () => ({
          status: pd.OperatorStatus.SUCCESS,
          desc: new TextEncoder().encode('scatter-region'),
        }));
      case 'GetGCSafePoint':
        return serve(pd.GetGCSafePointRequestCodec, pd.GetGCSafePointResponseCodec, () => ({
          safePoint: this.gcSafePoint,
        }));
      case 'UpdateGCSafePoint':
        return serve(pd.UpdateGCSafePointRequestCodec, pd.UpdateGCSafePointResponseCodec, ({ safePoint }) => {
          if (safePoint > this.gcSafePoint) this.gcSafePoint = safePoint;
          return { newSafePoint: this.gcSafePoint };
        });
      case 'UpdateServiceGCSafePoint':
        return serve(
          pd.UpdateServiceGCSafePointRequestCodec,
          pd.UpdateServiceGCSafePointResponseCodec,
          ({ serviceId, ttl, safePoint }) => {
            return { serviceId, minSafePoint: this.#updateService(text.decode(serviceId), ttl, safePoint) };
          },
        );
      case 'GetGCState':
        return serve(pd.GetGCStateRequestCodec, pd.GetGCStateResponseCodec, () => ({
          gcState: { txnSafePoint: this.txnSafePoint, gcSafePoint: this.gcSafePoint },
        }));
      case 'AdvanceTxnSafePoint':
        return serve(pd.AdvanceTxnSafePointRequestCodec, pd.AdvanceTxnSafePointResponseCodec, ({ target }) => {
          const lowest = this.#lowestHold();
          const wanted = lowest !== undefined && lowest < target ? lowest : target;
          if (wanted > this.txnSafePoint) this.txnSafePoint = wanted;
          return { newTxnSafePoint: this.txnSafePoint };
        });
      case 'AdvanceGCSafePoint':
        return serve(pd.AdvanceGCSafePointRequestCodec, pd.AdvanceGCSafePointResponseCodec, ({ target }) => {
          if (target > this.gcSafePoint && target <= this.txnSafePoint) this.gcSafePoint = target;
          return { newGcSafePoint: this.gcSafePoint };
        });
      case 'SetGCBarrier':
        return serve(
          pd.SetGCBarrierRequestCodec,
          pd.SetGCBarrierResponseCodec,
          ({ barrierId, barrierTs, ttlSeconds }) => {
            this.services.set(barrierId, {
              safePoint: barrierTs,
              endMs: this.#clock.nowMs() + Number(ttlSeconds) * 1_000,
            });
            return {};
          },
        );
      case 'DeleteGCBarrier':
        return serve(pd.DeleteGCBarrierRequestCodec, pd.DeleteGCBarrierResponseCodec, ({ barrierId }) => {
          this.services.delete(barrierId);
          return {};
        });
      default:
        throw new TransportError(GrpcCode.UNIMPLEMENTED, `unknown method ${method}`);
    }
  }

  #lowestHold(): Timestamp | undefined {
    let lowest: Timestamp | undefined;
    for (const [id, { safePoint, endMs }] of this.services) {
      if (endMs <= this.#clock.nowMs()) this.services.delete(id);
      else if (lowest === undefined || safePoint < lowest) lowest = safePoint;
    }
    return lowest;
  }

  #updateService(id: string, ttl: bigint, safePoint: Timestamp): Timestamp {
    // As in PD, the first request of any service creates the collector's own service at 0, without an end.
    if (!this.services.has('gc_worker'))
      this.services.set('gc_worker', { safePoint: 0n, endMs: Number.POSITIVE_INFINITY });
    if (ttl <= 0n) this.services.delete(id);
    else {
      const lowest = this.#lowestHold() ?? 0n;
      // A service cannot hold versions that may have been collected.
      if (safePoint >= lowest)
        this.services.set(id, {
          safePoint,
          endMs: ttl > 2n ** 60n ? Number.POSITIVE_INFINITY : this.#clock.nowMs() + Number(ttl) * 1_000,
        });
    }
    return this.#lowestHold() ?? 0n;
  }

  #store(id: number): StoreInit | undefined {
    const store = this.stores.get(id);
    return store === undefined ? undefined : { id, ...store };
  }

  #scan(startKey: Uint8Array, endKey: Uint8Array, limit: number): pd.RegionInit[] {
    const start = decodeBound(startKey);
    const end = decodeBound(endKey);
    const found = this.#regions
      .forPd()
      .filter(
        (region) =>
          (region.end.length === 0 || compareBytes(region.end, start) > 0) &&
          (end.length === 0 || compareBytes(region.start, end) < 0),
      );
    return (limit > 0 ? found.slice(0, limit) : found).map(toPdRegion);
  }
}

const contains = ({ start, end }: FakeRegion, key: Uint8Array): boolean =>
  compareBytes(start, key) <= 0 && (end.length === 0 || compareBytes(key, end) < 0);

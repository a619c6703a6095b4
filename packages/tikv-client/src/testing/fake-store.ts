import { compareBytes } from '@engram/core';
import type { ErrorInit as RegionErrorInit } from '../proto/gen/errorpb.ts';
import type * as kv from '../proto/gen/kvrpcpb.ts';
import type { FakeMvcc } from './fake-mvcc.ts';
import type { Timestamp } from '@engram/tso';
import type { CommandName } from './store-commands.ts';
import { type FakeRegion, type FakeRegions, toMeta } from './fake-regions.ts';

/** A request to a store, as scripts see it. */
export interface FakeCall {
  readonly storeId: number;
  readonly command: CommandName;
  readonly context: kv.Context | undefined;
  /** `command` determines its type. */
  readonly request: unknown;
}

/** Executes requests as the leader or a follower of the region in their context. */
export class FakeStore {
  readonly id: number;
  readonly #mvcc: FakeMvcc;
  readonly #regions: FakeRegions;
  /** The newest timestamp that a stale read on this store may use. */
  safeTs = 0n;

  readonly #allocated: () => Timestamp;

  /** @param allocated the newest timestamp of PD */
  constructor(id: number, mvcc: FakeMvcc, regions: FakeRegions, allocated: () => Timestamp) {
    this.id = id;
    this.#mvcc = mvcc;
    this.#regions = regions;
    this.#allocated = allocated;
  }

  execute(command: CommandName, request: unknown): object {
    if (command === 'UnsafeDestroyRange') {
      const { startKey, endKey } = request as kv.UnsafeDestroyRangeRequest;
      this.#mvcc.deleteRange(startKey, endKey);
      return {};
    }
    const { context } = request as { context: kv.Context | undefined };
    const checked = this.#checkRegion(context, command, request);
    if ('error' in checked) return { regionError: checked.error };
    const { region } = checked;
    this.#serve(region);
    switch (command) {
      case 'Get':
        return this.#mvcc.get(request as kv.GetRequest);
      case 'BatchGet':
        return this.#mvcc.batchGet(request as kv.BatchGetRequest);
      case 'Scan':
        return this.#mvcc.scan(request as kv.ScanRequest);
      case 'Prewrite':
        return this.#mvcc.prewrite(request as kv.PrewriteRequest);
      case 'Commit':
        return this.#mvcc.commit(request as kv.CommitRequest);
      case 'BatchRollback':
        return this.#mvcc.batchRollback(request as kv.BatchRollbackRequest);
      case 'ScanLock':
        return this.#mvcc.scanLock(request as kv.ScanLockRequest);
      case 'ResolveLock':
        return this.#mvcc.resolveLock(request as kv.ResolveLockRequest, region.start, region.end);
      case 'CheckTxnStatus':
        return this.#mvcc.checkTxnStatus(request as kv.CheckTxnStatusRequest);
      case 'CheckSecondaryLocks':
        return this.#mvcc.checkSecondaryLocks(request as kv.CheckSecondaryLocksRequest);
      case 'TxnHeartBeat':
        return this.#mvcc.heartBeat(request as kv.TxnHeartBeatRequest);
      case 'DeleteRange': {
        const { startKey, endKey } = request as kv.DeleteRangeRequest;
        this.#mvcc.deleteRange(startKey, endKey);
        return {};
      }
      case 'SplitRegion': {
        const { splitKeys } = request as kv.SplitRegionRequest;
        this.#regions.split(...splitKeys);
        const starts = [region.start, ...splitKeys];
        return { regions: starts.map((key) => toMeta(this.#regions.holding(key))) };
      }
      case 'MvccGetByKey':
        return this.#mvcc.versions((request as kv.MvccGetByKeyRequest).key);
    }
  }

  /**
   * The leader of the region keeps the timestamps of its reads, those by other replicas too. A store that becomes leader takes PD's
   * time first: the one before may have served reads up to it.
   */
  #serve(region: FakeRegion): void {
    const leader = region.peers.find(({ id }) => id === region.leaderId)?.storeId ?? this.id;
    const isNew = region.servedBy !== leader;
    region.servedBy = leader;
    this.#mvcc.servedBy(leader, isNew ? this.#allocated() : 0n);
  }

  #checkRegion(
    context: kv.Context | undefined,
    command: CommandName,
    request: unknown,
  ): { region: FakeRegion } | { error: RegionErrorInit } {
    if (context === undefined) throw new Error('a request without a context crashes real stores');
    const { regionId } = context;
    if (context.peer?.storeId !== this.id)
      return {
        error: {
          message: 'store not match',
          storeNotMatch: { requestStoreId: context.peer?.storeId, actualStoreId: this.id },
        },
      };
    const region = this.#regions.byId(regionId);
    const peer = region?.peers.find(({ storeId }) => storeId === this.id);
    if (region === undefined || peer === undefined)
      return { error: { message: `region ${regionId} not found`, regionNotFound: { regionId } } };
    if (peer.id !== context.peer.id)
      return {
        error: {
          message: 'mismatch peer id',
          mismatchPeerId: { requestPeerId: context.peer.id, storePeerId: peer.id },
        },
      };
    if (context.staleRead) {
      const { version } = request as kv.GetRequest;
      if (region.leaderId !== peer.id && version > this.safeTs)
        return {
          error: { message: 'data is not ready', dataIsNotReady: { regionId, peerId: peer.id, safeTs: this.safeTs } },
        };
    } else if (region.leaderId !== peer.id && !context.replicaRead) {
      const leader = region.peers.find(({ id }) => id === region.leaderId);
      return { error: { message: 'not leader', notLeader: { regionId, leader } } };
    }
    // A request that changes a region must also have the current version of its membership.
    const { version, confVer } = context.regionEpoch ?? { version: 0, confVer: 0 };
    if (version !== region.version || (command === 'SplitRegion' && confVer !== region.confVer)) {
      const siblings = this.#mvcc.flavour === 'unistore' ? [region] : this.#siblings(region);
      return { error: { message: 'epoch not match', epochNotMatch: { currentRegions: siblings.map(toMeta) } } };
    }
    for (const key of keysOf(command, request)) {
      if (compareBytes(key, region.start) < 0 || (region.end.length > 0 && compareBytes(key, region.end) >= 0)) {
        return {
          error: {
            message: 'key not in region',
            keyNotInRegion: { key, regionId, startKey: region.start, endKey: region.end },
          },
        };
      }
    }
    return { region };
  }

  /** The regions that TiKV names: the region and its right neighbour, which a split may just have made. */
  #siblings(region: FakeRegion): readonly FakeRegion[] {
    const all = this.#regions.all();
    const next = all[all.indexOf(region) + 1];
    return next === undefined ? [region] : [region, next];
  }
}

/** The keys by which a real store detects that a request was sent to the wrong region. */
function keysOf(command: CommandName, request: unknown): readonly Uint8Array[] {
  switch (command) {
    case 'Get':
      return [(request as kv.GetRequest).key];
    case 'BatchGet':
    case 'Commit':
    case 'BatchRollback':
    case 'CheckSecondaryLocks':
      return (request as kv.BatchGetRequest).keys;
    case 'ResolveLock':
      return (request as kv.ResolveLockRequest).keys;
    case 'Prewrite':
      return (request as kv.PrewriteRequest).mutations.map(({ key }) => key);
    case 'CheckTxnStatus':
      return [(request as kv.CheckTxnStatusRequest).primaryKey];
    case 'Scan': {
      const { reverse, startKey, endKey } = request as kv.ScanRequest;
      return [reverse ? endKey : startKey];
    }
    default:
      return [];
  }
}

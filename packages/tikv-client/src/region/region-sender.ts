import { GrpcCode, type Random } from '@engram/core';
import type { Backoffer } from '../backoff/backoffer.ts';
import { encode } from '@engram/protobuf';
import { TikvError } from '../errors.ts';
import type { Observer } from '../observer.ts';
import type { Error as RegionError } from '../proto/gen/errorpb.ts';
import type { ContextInit } from '../proto/gen/kvrpcpb.ts';
import type { Peer } from '../proto/gen/metapb.ts';
import type { TikvCommand } from '../transport/commands.ts';
import { isTransportError, type TransportError } from '../transport/transport.ts';
import { canVote, type Region } from './region.ts';
import { judgeRegionError, kindOfRegionError } from './region-error.ts';
import type { RegionLocator } from './region-locator.ts';
import type { StoreLink } from './store-link.ts';
import type { StorePool } from './store-pool.ts';

/** Which replica serves a read. `stale` reads at a timestamp in the past without asking the leader. */
export type ReplicaChoice = 'leader' | 'follower' | 'any' | 'stale';

/** What may have happened to a request. The caller owns the record; each send and resend updates it. */
export interface Fate {
  /** An attempt without a definite answer may have taken effect. */
  uncertain: boolean;
  /** An attempt was made, so a further one must be marked as a retry. */
  sent: boolean;
}

export interface SendOptions {
  readonly replica?: ReplicaChoice | undefined;
  readonly context?: ContextInit | undefined;
  readonly fate?: Fate | undefined;
}

/** `relocate`: the keys may be in other regions now, so the caller must group them again. */
export type SendResult<Response> =
  | { readonly kind: 'answer'; readonly response: Response }
  | { readonly kind: 'relocate' };

const RELOCATE = { kind: 'relocate' } as const;
/** After this many changes of leader in one send, the sender waits: peers may name each other without end. */
const SWITCHES_MAX = 3;
/** The longest message that a server of gRPC takes by default. */
const MESSAGE_BYTES_USUAL = 4 << 20;

/** Sends one request to one region until a peer answers, or until the region must be located again. */
export class RegionSender {
  readonly #locator: RegionLocator;
  readonly #stores: StorePool;
  readonly #random: Random;
  readonly #observer: Observer;
  readonly #requestTimeoutMs: number;
  readonly #baseContext: ContextInit;

  constructor(
    locator: RegionLocator,
    stores: StorePool,
    options: { random: Random; observer: Observer; requestTimeoutMs: number; context: ContextInit },
  ) {
    this.#locator = locator;
    this.#stores = stores;
    this.#random = options.random;
    this.#observer = options.observer;
    this.#requestTimeoutMs = options.requestTimeoutMs;
    this.#baseContext = options.context;
  }

  async send<
    Request extends { readonly context?: ContextInit | undefined },
    Response extends { readonly regionError: RegionError | undefined },
  >(
    region: Region,
    command: TikvCommand<Request, Response>,
    request: Request,
    backoffer: Backoffer,
    options: SendOptions = {},
  ): Promise<SendResult<Response>> {
    const { call } = backoffer;
    const { clock } = call;
    const tried = new Set<number>();
    let replica = options.replica ?? 'leader';
    let probe: Peer | undefined;
    let switches = 0;
    for (;;) {
      call.check();
      const peer = probe ?? this.#pick(region, replica, tried);
      probe = undefined;
      if (peer === undefined) {
        this.#locator.drop(region, 'no-peer-left');
        await backoffer.wait(
          'regionMiss',
          new TikvError('region-unavailable', `no peer of region ${region.id} could serve`),
        );
        return RELOCATE;
      }
      tried.add(peer.id);
      const link = this.#stores.known(peer.storeId) ?? (await this.#stores.link(peer.storeId, call));
      if (link === undefined) {
        this.#locator.drop(region, 'store-gone');
        await backoffer.wait('regionMiss', new TikvError('store-unreachable', `store ${peer.storeId} is gone`));
        return RELOCATE;
      }
      const asLeader = replica === 'leader';
      const context = {
        ...this.#baseContext,
        ...options.context,
        regionId: region.id,
        regionEpoch: region,
        peer,
        ...(replica === 'stale' ? { staleRead: true } : asLeader ? undefined : { replicaRead: true }),
        ...(command.write && options.fate?.sent ? { isRetryRequest: true } : undefined),
      };
      if (options.fate !== undefined) options.fate.sent = true;
      const startMs = clock.nowMs();
      const span = call.span?.child(
        `tikv ${command.name}`,
        { store: peer.storeId, region: String(region.id) },
        'client',
      );
      let response: Response;
      try {
        response = await link.send(
          command,
          { ...request, context },
          Math.min(call.deadlineMs, startMs + this.#requestTimeoutMs),
          call.signal,
        );
      } catch (error) {
        if (options.fate !== undefined && !(isTransportError(error) && error.unsent)) options.fate.uncertain = true;
        this.#observer.storeCall?.({
          command: command.name,
          storeId: peer.storeId,
          durationMs: clock.nowMs() - startMs,
          outcome: 'transport-error',
          detail: undefined,
        });
        span?.end(error);
        if (!isTransportError(error)) throw error;
        const sentBytes = (): number => encode(command.request, { ...request, context }).length;
        await this.#afterTransportError(error, link, region, backoffer, sentBytes);
        if (replica !== 'leader') {
          replica = 'leader'; // after a failed replica the leader serves
          tried.delete(region.peers[region.leader]?.id ?? 0);
        } else probe = this.#other(region, tried);
        continue;
      }
      const { regionError } = response;
      this.#observer.storeCall?.({
        command: command.name,
        storeId: peer.storeId,
        durationMs: clock.nowMs() - startMs,
        outcome: regionError === undefined ? 'ok' : 'region-error',
        detail: regionError === undefined ? undefined : kindOfRegionError(regionError),
      });
      span?.end(regionError === undefined ? undefined : new Error(kindOfRegionError(regionError)));
      if (regionError === undefined) {
        if (asLeader && region.peers[region.leader] !== peer) this.#locator.cache.switchLeader(region, peer.id);
        return { kind: 'answer', response };
      }
      const verdict = judgeRegionError(regionError, region, asLeader);
      const cause = new TikvError(
        'region-unavailable',
        `region ${region.id}, ${kindOfRegionError(regionError)}: ${regionError.message}`,
      );
      if (verdict.do === 'fail') throw verdict.error;
      if (verdict.maybeApplied && options.fate !== undefined) options.fate.uncertain = true;
      if (verdict.do === 'relocate') {
        this.#locator.drop(region, kindOfRegionError(regionError));
        if (verdict.storeMoved) this.#stores.doubt(peer.storeId, true);
        this.#locator.learn(verdict.learn ?? [], region, call);
        if (verdict.backoff !== undefined) await backoffer.wait(verdict.backoff, cause);
        return RELOCATE;
      }
      if (verdict.atLeader) replica = 'leader';
      if (verdict.leader !== undefined) {
        this.#locator.cache.switchLeader(region, verdict.leader);
        switches += 1;
        if (switches > SWITCHES_MAX) await backoffer.wait('regionScheduling', cause);
        tried.clear();
        const named = region.peers[region.leader]!;
        // The named leader's store may have recovered since it was avoided. A store that does not answer has not.
        if (!this.#stores.isSilent(named.storeId)) probe = named;
        else if (switches <= SWITCHES_MAX) await backoffer.wait('regionScheduling', cause);
      }
      if (verdict.backoff !== undefined)
        await backoffer.wait(verdict.backoff, cause, { atLeastMs: verdict.atLeastMs ?? 0 });
      if (verdict.nextPeer) {
        probe = this.#other(region, tried);
        if (probe === undefined) {
          this.#locator.drop(region, kindOfRegionError(regionError));
          return RELOCATE;
        }
      } else tried.delete(peer.id);
    }
  }

  async #afterTransportError(
    error: TransportError,
    link: StoreLink,
    region: Region,
    backoffer: Backoffer,
    sentBytes: () => number,
  ): Promise<void> {
    const cause = new TikvError('store-unreachable', `store ${link.storeId} at ${link.address}: ${error.message}`, {
      cause: error,
    });
    if (error.grpc === GrpcCode.UNIMPLEMENTED) throw new TikvError('protocol-error', error.message, { cause: error });
    if (error.grpc === GrpcCode.RESOURCE_EXHAUSTED) {
      // With the same code a server refuses a message that is too large for it, and all that is in it, and one that it has no room
      // for now. TiKV takes any size, a proxy before it usually gRPC's default.
      if (!error.unsent && sentBytes() > MESSAGE_BYTES_USUAL)
        throw new TikvError('transaction-too-large', error.message, { cause: error });
      await backoffer.wait('serverBusy', cause);
      return;
    }
    if (error.tls) throw new TikvError('tls-failed', `${link.address}: ${error.message}`, { cause: error });
    this.#stores.doubt(link.storeId);
    backoffer.call.check(cause);
    // The other peers can serve or name the leader without delay. Waiting helps only if all have failed.
    if (region.peers.every(({ storeId }) => storeId === link.storeId || this.#stores.isAvoided(storeId)))
      await backoffer.wait('tikvRPC', cause);
  }

  #pick(region: Region, replica: ReplicaChoice, tried: ReadonlySet<number>): Peer | undefined {
    const leader = region.peers[region.leader];
    if (replica === 'leader') {
      if (leader !== undefined && !tried.has(leader.id)) {
        // A leader on a store that has just failed is probably no leader any more, so it is asked last.
        if (tried.size > 0 || !this.#stores.isAvoided(leader.storeId)) return leader;
      }
      return this.#other(region, tried) ?? (leader !== undefined && !tried.has(leader.id) ? leader : undefined);
    }
    const wanted = region.peers.filter(
      (peer) => (replica === 'follower' ? peer !== leader : true) && !tried.has(peer.id),
    );
    const healthy = wanted.filter((peer) => !this.#stores.isAvoided(peer.storeId) && !region.downPeers.has(peer.id));
    const from = healthy.length > 0 ? healthy : wanted;
    return from[this.#random.uint32() % Math.max(1, from.length)] ?? leader;
  }

  /** A voter that was not tried yet. Voters on healthy stores come first. */
  #other(region: Region, tried: ReadonlySet<number>): Peer | undefined {
    const left = region.peers.filter((peer) => canVote(peer) && !tried.has(peer.id));
    return left.find((peer) => !this.#stores.isAvoided(peer.storeId) && !region.downPeers.has(peer.id)) ?? left[0];
  }
}

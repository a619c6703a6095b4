import type { Clock, Logger, Random } from '@engram/core';
import { Backoffer } from '../backoff/backoffer.ts';
import type { KeyCodec } from '../codec/key-codec.ts';
import { TikvError } from '../errors.ts';
import type { Observer } from '../observer.ts';
import type { Settings } from '../options.ts';
import type { PdClient } from '../pd/pd-client.ts';
import type { Error as RegionError } from '../proto/gen/errorpb.ts';
import type { ContextInit } from '../proto/gen/kvrpcpb.ts';
import type { BackgroundTasks } from '../runtime/background-tasks.ts';
import { Call, type CallOptions } from '../runtime/call.ts';
import type { TikvCommand } from '../transport/commands.ts';
import type { RegionLocator } from './region-locator.ts';
import type { RegionSender, SendOptions, SendResult } from './region-sender.ts';
import type { Region } from './region.ts';
import type { StorePool } from './store-pool.ts';

/** Relocations of one operation without a delay. Each later one waits first. */
const FREE_RELOCATIONS = 3;

/** What calls need before there are locks to resolve. */
export interface CallParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly observer: Observer;
  readonly logger: Logger | undefined;
  readonly settings: Settings;
  readonly codec: KeyCodec;
  readonly pd: PdClient;
  readonly stores: StorePool;
  readonly locator: RegionLocator;
  readonly sender: RegionSender;
  readonly background: BackgroundTasks;
  readonly closing: AbortSignal;
}

/** Calls of one client to regions. It knows no transactions: what resolves locks is built over it. Takes store keys. */
export class RegionCalls implements CallParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly observer: Observer;
  readonly logger: Logger | undefined;
  readonly settings: Settings;
  readonly codec: KeyCodec;
  readonly pd: PdClient;
  readonly stores: StorePool;
  readonly locator: RegionLocator;
  readonly sender: RegionSender;
  readonly background: BackgroundTasks;
  readonly closing: AbortSignal;

  constructor(parts: CallParts) {
    this.clock = parts.clock;
    this.random = parts.random;
    this.observer = parts.observer;
    this.logger = parts.logger;
    this.settings = parts.settings;
    this.codec = parts.codec;
    this.pd = parts.pd;
    this.stores = parts.stores;
    this.locator = parts.locator;
    this.sender = parts.sender;
    this.background = parts.background;
    this.closing = parts.closing;
  }

  /** The `Call` of a call of the public API. */
  call(options: CallOptions | undefined): Call {
    return Call.from(this.clock, this.settings.callTimeoutMs, options, this.closing);
  }

  backoffer(call: Call, budgetMs = this.settings.backoffBudgetMs): Backoffer {
    return new Backoffer(call, budgetMs, this.random, this.observer);
  }

  /** The `Call` of work that outlives the call that caused it. */
  backgroundCall(): Call {
    return new Call(this.clock, this.clock.nowMs() + this.settings.backgroundBudgetMs, undefined, this.closing);
  }

  /** Sends one request about one key, and locates the region again until a region answers. */
  async onKey<
    Request extends { readonly context?: ContextInit | undefined },
    Response extends { readonly regionError: RegionError | undefined },
  >(
    key: Uint8Array,
    command: TikvCommand<Request, Response>,
    request: Request,
    backoffer: Backoffer,
    options?: SendOptions,
  ): Promise<Response> {
    for (let relocations = 0; ; relocations += 1) {
      const region = this.locator.cached(key, backoffer.call) ?? (await this.locator.locate(key, backoffer));
      const result = await this.onRegion(region, command, request, backoffer, relocations, options);
      if (result.kind === 'answer') return result.response;
    }
  }

  /** Sends one request to one region. `relocations`: how often the caller has already located the region again. */
  async onRegion<
    Request extends { readonly context?: ContextInit | undefined },
    Response extends { readonly regionError: RegionError | undefined },
  >(
    region: Region,
    command: TikvCommand<Request, Response>,
    request: Request,
    backoffer: Backoffer,
    relocations: number,
    options?: SendOptions,
  ): Promise<SendResult<Response>> {
    if (relocations > FREE_RELOCATIONS) {
      await backoffer.wait('regionMiss', new TikvError('region-unavailable', 'the regions of the keys keep changing'));
    }
    return this.sender.send(region, command, request, backoffer, options);
  }
}

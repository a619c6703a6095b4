import type { Logger } from '@engram/core';
import type { Store } from '@engram/backend';
import { Loop } from '@engram/loop';
import { HeaderEncoder, type Init, type etcdserverpb } from '@engram/wire';
import { Authenticator } from './auth/authenticator.ts';
import { AuthorizedStore } from './auth/authorized-store.ts';
import { WatchRights } from './auth/watch-rights.ts';
import type { Cluster } from './cluster-view.ts';
import { ServiceCounts } from './service-counts.ts';
import { defaultServiceLimits, type Limits, type ServicesOptions } from './services-options.ts';
import { WatcherShares } from './watcher-shares.ts';

/** The parts that all services share. */
export class ServiceParts {
  /** As clients may use it. */
  readonly store: Store;
  readonly auth: Authenticator;
  readonly cluster: Cluster;
  readonly limits: Limits;
  readonly logger: Logger;
  readonly loop: Loop;
  readonly counts: ServiceCounts;
  /** The memory of all watchers that calls have. */
  readonly watcherShares: WatcherShares;
  readonly watchRights: WatchRights;
  readonly options: ServicesOptions;
  #headers: HeaderEncoder;
  #headersTerm = 0;

  constructor(options: ServicesOptions) {
    this.options = options;
    this.cluster = options.cluster;
    this.limits = { ...defaultServiceLimits, ...options.limits };
    this.logger = options.logger;
    this.loop = options.loop ?? new Loop(options);
    this.auth = new Authenticator(options.store, options.clock, options.auth);
    this.store = new AuthorizedStore(options.store, this.auth, this.loop);
    this.counts = options.counts ?? new ServiceCounts();
    this.watcherShares = new WatcherShares(options.watcherBytes);
    this.watchRights = new WatchRights(this.auth.view, this.loop);
    this.#headers = this.#headersOf(this.cluster.term);
  }

  /** An encoded header. Shared: must not be changed. */
  headerBytes(revision: number): Uint8Array {
    const { term } = this.cluster;
    if (term !== this.#headersTerm) this.#headers = this.#headersOf(term);
    return this.#headers.encode(revision);
  }

  #headersOf(term: number): HeaderEncoder {
    const { clusterId, memberId } = this.cluster;
    this.#headersTerm = term;
    return new HeaderEncoder({ clusterId, memberId, raftTerm: term });
  }

  /** A header for services that are not hot. `revision` defaults to the store's. */
  header(revision: number = this.store.revision): Init<etcdserverpb.ResponseHeader> {
    const { clusterId, memberId, term } = this.cluster;
    return { clusterId, memberId, revision, raftTerm: term };
  }
}

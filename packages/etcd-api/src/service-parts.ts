import type { Logger } from '@engram/core';
import type { Store } from '@engram/backend';
import { HeaderEncoder, type Init, type etcdserverpb } from '@engram/wire';
import type { Cluster } from './cluster-view.ts';
import { defaultLimits, type Limits, type ServicesOptions } from './services-options.ts';

/** What all services share. */
export class ServiceParts {
  readonly store: Store;
  readonly cluster: Cluster;
  readonly limits: Limits;
  readonly logger: Logger;
  readonly options: ServicesOptions;
  #headers: HeaderEncoder;
  #headersTerm = 0;

  constructor(options: ServicesOptions) {
    this.options = options;
    this.store = options.store;
    this.cluster = options.cluster;
    this.limits = { ...defaultLimits, ...options.limits };
    this.logger = options.logger;
    this.#headers = this.#headersOf(this.cluster.term);
  }

  /** An encoded header. Shared: never changed. */
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

  /** A header for the services that are not hot; the store's revision unless another one is given. */
  header(revision: number = this.store.revision): Init<etcdserverpb.ResponseHeader> {
    const { clusterId, memberId, term } = this.cluster;
    return { clusterId, memberId, revision, raftTerm: term };
  }
}

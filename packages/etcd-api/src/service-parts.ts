import type { Logger } from '@engram/core';
import type { Store } from '@engram/backend';
import { HeaderEncoder, type Init, type etcdserverpb } from '@engram/wire';
import { defaultLimits, type Limits, type MemberIdentity, type ServicesOptions } from './services-options.ts';

/** What all services share. */
export class ServiceParts {
  readonly store: Store;
  readonly member: MemberIdentity;
  readonly limits: Limits;
  readonly logger: Logger;
  readonly options: ServicesOptions;
  readonly #headers: HeaderEncoder;

  constructor(options: ServicesOptions) {
    this.options = options;
    this.store = options.store;
    this.member = options.member;
    this.limits = { ...defaultLimits, ...options.limits };
    this.logger = options.logger;
    this.#headers = new HeaderEncoder(options.member);
  }

  /** An encoded header. Shared: never changed. */
  headerBytes(revision: number): Uint8Array {
    return this.#headers.encode(revision);
  }

  /** A header for the services that are not hot; the store's revision unless another one is given. */
  header(revision: number = this.store.revision): Init<etcdserverpb.ResponseHeader> {
    const { clusterId, memberId, raftTerm } = this.member;
    return { clusterId, memberId, revision, raftTerm };
  }
}

import type { Clock, Logger, Random } from '@engram/core';
import type { EtcdClient, EtcdSource, FollowMark } from '@engram/migration';
import type { Terminal } from '../restore/read-progress.ts';
import type { MigrationMark } from '../start/migration-mark.ts';

export interface FollowedSource {
  readonly client: EtcdClient;
  readonly source: EtcdSource;
  readonly from: readonly string[];
}

export interface PlaceParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly terminal: Terminal;
  /** Ends the founding. */
  readonly signal: AbortSignal;
}

/** Where the store that follows an etcd is, with the mark that it does: a data directory, or a prefix of TiKV. */
export interface MigrationPlace extends FollowMark, AsyncDisposable {
  /** Undefined: there is no store yet. Rejects where there is one that follows no etcd, or what is no store. */
  followed(signal: AbortSignal): Promise<MigrationMark | undefined>;
  /** Makes the store from a snapshot, with the mark. Durable when it resolves. Whatever ends it before, no member starts on the place. */
  found(etcd: FollowedSource): Promise<void>;
}

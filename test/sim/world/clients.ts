import type { StoreHistory } from '@engram/sim/model';
import type { Judge } from '../judge/judge.ts';
import type { Settings } from '../plan/settings.ts';
import type { Calls } from './calls.ts';
import type { Served } from './served.ts';
import type { WatchClient } from './watch-client.ts';

/** What requests of clients are made with: of one node, or of a cluster. */
export interface Clients {
  readonly settings: Settings;
  readonly history: StoreHistory;
  readonly judge: Judge;
  readonly calls: Calls;
  readonly watchClients: readonly WatchClient[];
  /** Of the clock that leases are judged by. */
  readonly nowMs: number;
  /** The position of the log that a node answers from at least when it asks nobody else. */
  localFrom(life: Served): number;
}

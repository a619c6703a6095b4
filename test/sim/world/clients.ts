import type { StoreHistory } from '@engram/sim/model';
import type { Judge } from '../judge/judge.ts';
import type { Settings } from '../plan/settings.ts';
import type { Credentials } from '../users/credentials.ts';
import type { Calls } from './calls.ts';
import type { Served } from './served.ts';
import type { WatchClient } from './watch-client.ts';

/** The parts that clients of a node or of a cluster need for requests. */
export interface Clients {
  readonly settings: Settings;
  readonly history: StoreHistory;
  readonly judge: Judge;
  readonly calls: Calls;
  /** Who the clients say they are. */
  readonly credentials: Credentials;
  readonly watchClients: readonly WatchClient[];
  /** The time of the clock that leases are judged by. */
  readonly nowMs: number;
  /** For how long a member may still pass a call on to a leader after the client has given up. */
  readonly forwardedMsMax: number;
  /** Lower bound, as a position of the log, of the state from which a node answers by itself. */
  localFrom(life: Served): number;
}

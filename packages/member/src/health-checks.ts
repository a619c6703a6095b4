import { ALARM_CORRUPT, type Alarm, nodeItself, type Store } from '@engram/backend';
import { rangeOp, type Clock, EMPTY_BYTES, prefixRange, type RangeOp, unreachable, withDeadline } from '@engram/core';
import type { ClusterView } from '@engram/etcd-api';

/** The names that etcd gives alarms, by their number. */
const alarmNames = ['NONE', 'NOSPACE', 'CORRUPT'] as const;
const alarmName = ({ alarm }: Alarm): string => alarmNames[alarm] ?? 'UNKNOWN';

/** Undefined: healthy. Otherwise the reason why not. */
export type CheckOutcome = string | undefined;
export type HealthCheck = 'data_corruption' | 'serializable_read' | 'linearizable_read' | 'non_learner';

const CHECK_TIMEOUT_MS = 7000;

/** etcd's checks by name (etcdhttp/health.go), in its order. */
export const livezChecks: readonly HealthCheck[] = ['serializable_read'];
export const readyzChecks: readonly HealthCheck[] = [
  'data_corruption',
  'serializable_read',
  'linearizable_read',
  'non_learner',
];

/** The health checks of this member, with etcd's answers. */
export class HealthChecks {
  readonly #store: Store;
  readonly #cluster: ClusterView;
  readonly #clock: Clock;

  constructor(store: Store, cluster: ClusterView, clock: Clock) {
    this.#store = store;
    this.#cluster = cluster;
    this.#clock = clock;
  }

  /** Whether this member leads, as far as it knows. */
  leads(): boolean {
    return this.#cluster.leaderId === this.#cluster.memberId;
  }

  /**
   * The outcome of /health: checks the alarms that are not excluded, then the leader (a takeover that was refused says why
   * there is none), then storage, then a read. If only a
   * serializable read is asked for, neither leader nor storage matters. The checks of /readyz look at storage only by a
   * linearizable read, and those of /livez not at all: a member whose writes wait still serves serializable reads and watches.
   */
  async health(excluded: ReadonlySet<string>, serializable: boolean, signal: AbortSignal): Promise<CheckOutcome> {
    const alarm = this.#store.alarms().find((raised) => !excluded.has(alarmName(raised)));
    if (alarm !== undefined) return `ALARM ${alarmName(alarm)}`;
    if (!serializable && this.#cluster.takeoverRefusal !== undefined) return 'TIMESTAMPS WENT BACK';
    if (!serializable && this.#cluster.leaderId === 0n) return 'RAFT NO LEADER';
    if (!serializable && this.#cluster.stalledMs > 0) return 'STORAGE DOES NOT ANSWER';
    const failed = await this.#read(serializable, signal);
    return failed && `RANGE ERROR:${failed}`;
  }

  check(name: HealthCheck, signal: AbortSignal): CheckOutcome | Promise<CheckOutcome> {
    switch (name) {
      case 'data_corruption':
        return this.#corruption();
      case 'serializable_read':
        return this.#read(true, signal);
      case 'linearizable_read':
        return this.#read(false, signal);
      case 'non_learner':
        return this.#cluster.isLearner ? 'not supported for learner' : undefined;
      default:
        return unreachable(name);
    }
  }

  #corruption(): CheckOutcome {
    const corrupt = this.#store.alarms().some(({ alarm }) => alarm === ALARM_CORRUPT);
    return corrupt ? 'alarm activated: CORRUPT' : undefined;
  }

  async #read(serializable: boolean, signal: AbortSignal): Promise<CheckOutcome> {
    const late = (): Error => new Error('context deadline exceeded');
    const read = async (bounded: AbortSignal): Promise<void> => {
      await this.#store.range({ ...oneKey, serializable }, { ...nodeItself, signal: bounded });
      // A round of reads goes on when one of its callers gives up, so a read may succeed too late.
      bounded.throwIfAborted();
    };
    try {
      await withDeadline(this.#clock, CHECK_TIMEOUT_MS, late, read, signal);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

/** Reads one key without its value, which shows whether the store can read at all. */
const oneKey: RangeOp = rangeOp(prefixRange(EMPTY_BYTES), { limit: 1, serializable: true, keysOnly: true });

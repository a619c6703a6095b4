import { ALARM_CORRUPT, type Alarm, nodeItself, type Store } from '@engram/backend';
import { EMPTY_BYTES, prefixRange, type RangeOp } from '@engram/core';

/** The names that etcd gives alarms, by their number. */
const alarmNames = ['NONE', 'NOSPACE', 'CORRUPT'] as const;
const alarmName = ({ alarm }: Alarm): string => alarmNames[alarm] ?? 'UNKNOWN';

/** Undefined when all is well, else why not. */
export type Outcome = string | undefined;
export type HealthCheck = (store: Store, signal: AbortSignal) => Outcome | Promise<Outcome>;

const CHECK_TIMEOUT_MS = 7000;

/**
 * etcd's checks by name (etcdhttp/health.go). One node leads itself and is no learner, so two of them ask less here
 * than there: both reads go to the same state.
 */
export const livezChecks: ReadonlyMap<string, HealthCheck> = new Map([['serializable_read', readCheck]]);
export const readyzChecks: ReadonlyMap<string, HealthCheck> = new Map<string, HealthCheck>([
  ['data_corruption', corruptionCheck],
  ['serializable_read', readCheck],
  ['linearizable_read', readCheck],
  ['non_learner', () => undefined],
]);

/** What /health says: alarms that are not excluded, then a read. */
export async function healthOutcome(
  store: Store,
  excluded: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Outcome> {
  const alarm = store.alarms().find((raised) => !excluded.has(alarmName(raised)));
  if (alarm !== undefined) return `ALARM ${alarmName(alarm)}`;
  const failed = await readCheck(store, signal);
  return failed && `RANGE ERROR:${failed}`;
}

function corruptionCheck(store: Store): Outcome {
  return store.alarms().some(({ alarm }) => alarm === ALARM_CORRUPT) ? 'alarm activated: CORRUPT' : undefined;
}

/** Reads one key's name: it answers when the store can read at all. */
const oneKey: RangeOp = {
  kind: 'range',
  range: prefixRange(EMPTY_BYTES),
  limit: 1,
  revision: 0,
  sortOrder: 0,
  sortTarget: 0,
  serializable: true,
  keysOnly: true,
  countOnly: false,
  minModRevision: 0,
  maxModRevision: 0,
  minCreateRevision: 0,
  maxCreateRevision: 0,
};

async function readCheck(store: Store, signal: AbortSignal): Promise<Outcome> {
  try {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(CHECK_TIMEOUT_MS)]);
    await store.range(oneKey, { ...nodeItself, signal: bounded });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

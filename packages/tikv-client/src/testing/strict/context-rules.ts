import type * as kv from '../../proto/gen/kvrpcpb.ts';
import type { AllocatedTimestamps } from './allocated-timestamps.ts';
import { need } from './refusal.ts';

const READS: ReadonlySet<string> = new Set(['Get', 'BatchGet', 'Scan']);

/** Checks the context of a request to a region. Throws Refusal. */
export function checkContext(
  command: string,
  context: kv.Context | undefined,
  timestamps: AllocatedTimestamps,
): asserts context is kv.Context {
  need(context !== undefined, `${command} has no context, over which some servers crash`);
  const { regionId, regionEpoch, peer } = context;
  need(regionId > 0, `${command}: context.region_id is 0`);
  need(regionEpoch !== undefined && regionEpoch.version > 0, `${command}: context.region_epoch is missing`);
  need(peer !== undefined && peer.id > 0 && peer.storeId > 0, `${command}: context.peer is missing`);
  const byReplica = context.replicaRead || context.staleRead;
  need(!byReplica || READS.has(command), `${command} is no read, so no replica but the leader serves it`);
  need(
    !(context.replicaRead && context.staleRead),
    `${command}: context.replica_read and stale_read exclude each other`,
  );
  for (const startTs of [...context.resolvedLocks, ...context.committedLocks])
    need(timestamps.isKnown(startTs), `${command}: context names transaction ${startTs}, which nobody has told of`);
  need(
    !context.resolvedLocks.some((startTs) => context.committedLocks.includes(startTs)),
    `${command}: context calls one transaction rolled back and committed`,
  );
}

/**
 * Fields that only newer or only older servers know. Servers would act differently on them, so this client never sets them. The
 * fields that it sets and older servers ignore do not change an outcome: advice about locks, assertions, the request for commit
 * timestamps, the role of a commit, labels.
 */
const NOT_EVERYWHERE: Readonly<Record<string, readonly string[]>> = {
  context: [
    'term',
    'isolationLevel',
    'syncLog',
    'appliedIndex',
    'taskId',
    'diskFullOpt',
    'txnSource',
    'busyThresholdMs',
    'keyspaceName',
    'bucketsVersion',
    'clusterId',
    'traceId',
    'traceControlFlags',
  ],
  Prewrite: ['skipConstraintCheck', 'pessimisticActions', 'forUpdateTs', 'forUpdateTsConstraints'],
  TxnHeartBeat: ['minCommitTs'],
  CheckTxnStatus: ['resolvingPessimisticLock'],
  ResolveLock: ['isAsync'],
  Scan: ['sampleStep'],
  SplitRegion: ['splitKey', 'isRawKv'],
  DeleteRange: ['notifyOnly'],
};

/** Refuses fields that not all servers know. `request`: decoded, with its context. Throws Refusal. */
export function checkFields(command: string, request: object): void {
  const { context } = request as { readonly context?: object };
  for (const [name, message] of [
    [command, request],
    ['context', context ?? {}],
  ] as const) {
    for (const field of NOT_EVERYWHERE[name] ?? []) {
      const value = (message as Readonly<Record<string, unknown>>)[field];
      const unset =
        value === undefined || value === 0 || value === 0n || value === false || value === '' || isEmpty(value);
      need(unset, `${command}: ${name}.${field} is not known to all servers`);
    }
  }
}

const isEmpty = (value: unknown): boolean =>
  (Array.isArray(value) || value instanceof Uint8Array) && value.length === 0;

import { type Clock, type Logger, sleep } from '@engram/core';
import {
  EtcdClient,
  EtcdSource,
  EtcdTarget,
  Follower,
  isMigrationError,
  MigrationError,
  renewLeases,
} from '@engram/migration';
import type { MirrorConfig } from '../config/mirror-config.ts';
import { SystemClock } from '../system-clock.ts';

export interface MirrorParts {
  readonly logger: Logger;
  /** Ends the work, between two revisions or in one whose outcome the next run finds. */
  readonly signal: AbortSignal;
}

const LOOK_MS = 500;
const TOLD_EACH_MS = 10_000;

/**
 * Writes each revision of a store into an etcd, as one transaction with the same revision, until the signal aborts, or with
 * `untilEqual` until the two are equal. Resolves with a line for the operator. Rejects with MigrationError at the first difference.
 */
export async function mirror({ from, to, untilEqual }: MirrorConfig, { logger, signal }: MirrorParts): Promise<string> {
  const clock = new SystemClock();
  using reader = new EtcdClient(from);
  using writer = new EtcdClient(to);
  const source = new EtcdSource(reader);
  const target = new EtcdTarget(writer);
  const [theirs, ours] = await Promise.all([source.revision(signal), target.revision(signal)]);
  if (reader.clusterId === writer.clusterId) throw new MigrationError('refused', '--from and --to are one cluster');
  logger.info({ from: theirs, to: ours }, 'mirrors: each revision becomes one revision of the etcd');
  const follower = new Follower({ source, target, clock, logger });
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const leases = {
    leases: () => follower.leases,
    keepAlive: (ids: readonly bigint[], asked: AbortSignal) => target.keepAlive(ids, asked),
    clock,
    logger,
  };
  const works: Promise<void>[] = [
    follower.run(both),
    renewLeases(leases, both),
    telling(follower, clock, logger, both),
  ];
  if (untilEqual) works.push(equal(follower, clock, both));
  try {
    await Promise.race(works);
    return `equal at revision ${follower.lag.at}\n`;
  } catch (error) {
    if (!signal.aborted) throw error;
    const { at, source: newest } = follower.lag;
    return `stopped at revision ${at}, ${newest - at} revisions behind\n`;
  } finally {
    stop.abort(new Error('the mirror has ended'));
    await Promise.allSettled(works);
  }
}

/** Resolves when the two are equal, and nothing is written any more. */
async function equal(follower: Follower, clock: Clock, signal: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(clock, LOOK_MS, signal);
    try {
      return await follower.end(async () => {}, signal);
    } catch (error) {
      if (!isMigrationError(error, 'lags') && !isMigrationError(error, 'interrupted')) throw error;
    }
  }
}

async function telling(follower: Follower, clock: Clock, logger: Logger, signal: AbortSignal): Promise<never> {
  for (;;) {
    await sleep(clock, TOLD_EACH_MS, signal);
    const { at, source } = follower.lag;
    logger.info({ revision: at, behind: source - at }, 'mirrors');
  }
}

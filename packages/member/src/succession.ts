import { type Clock, EngramError, type Seal, withDeadline } from '@engram/core';
import type { KnownLeader } from './known-leader.ts';
import type { RemoteLeader } from './remote-leader.ts';

export interface SuccessionOptions {
  readonly memberId: bigint;
  readonly known: KnownLeader;
  readonly remote: Pick<RemoteLeader, 'leadsAfter'>;
  readonly clock: Clock;
  /** Ends the question when the member stops. */
  readonly signal: AbortSignal;
}

/** Bound on the question to another member whether it leads. */
const SUPERSEDED_MS = 1000;

/**
 * Whether a quorum confirms that another member leads in a later epoch than that of the seal. That member sealed the log before
 * it led. False if there is no answer by the bound. Never rejects.
 */
export async function isSuperseded({ epoch: mine }: Seal, options: SuccessionOptions): Promise<boolean> {
  const { memberId, known, remote, clock, signal } = options;
  const { current } = known;
  if (current === undefined || current.epoch <= mine || current.memberId === memberId) return false;
  const late = (): Error => new EngramError('Timeout');
  const ask = (asking: AbortSignal): Promise<boolean> => remote.leadsAfter(mine, current, asking);
  try {
    return await withDeadline(clock, SUPERSEDED_MS, late, ask, signal);
  } catch {
    return false;
  }
}

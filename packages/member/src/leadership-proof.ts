import type { CurrentLeadership, Replica } from '@engram/backend';
import { type Clock, EngramError, type Epoch } from '@engram/core';
import type { ElectionDriver, Witness } from '@engram/election';
import type { Log } from '@engram/storage';
import type { AppliedPositions } from './applied-positions.ts';
import { SealChecks } from './seal-checks.ts';

export interface LeadershipProofOptions {
  readonly memberId: bigint;
  readonly current: CurrentLeadership;
  readonly driver: Pick<ElectionDriver, 'confirmLeadership'>;
  readonly log: Pick<Log, 'heldBy'>;
  readonly replica: Pick<Replica, 'next'>;
  readonly applied: AppliedPositions;
  readonly clock: Clock;
  /** Bound on a check of the seal, and on the wait for what was committed. */
  readonly timeoutMs: number;
  /** A later seal holds the log. This member may not have heard of the member that sealed. */
  readonly onSuperseded: (epoch: Epoch) => void;
}

/** What proves that this member leads: a quorum and the log. */
export class LeadershipProof {
  readonly #options: LeadershipProofOptions;
  /** Of the newest leadership. */
  #newest: { readonly epoch: Epoch; readonly checks: SealChecks } | undefined;

  constructor(options: LeadershipProofOptions) {
    this.#options = options;
  }

  /** How long the check of the seal that is under way has lasted; 0 if there is none. */
  get underWayMs(): number {
    return this.#newest?.checks.underWayMs ?? 0;
  }

  /** The leadership ends: nobody waits for the log any more. */
  end(): void {
    this.#newest?.checks.end();
  }

  /**
   * Resolves when a quorum has confirmed that this member leads in the epoch of its store, when the log has confirmed that it is
   * held by that epoch's seal, and when this member has applied everything that it had committed by then. Other members may
   * already have applied and shown those writes.
   *
   * The log's answer is the proof: who leads next seals before it acknowledges anything, so nothing was acknowledged elsewhere
   * before this call. The quorum alone does not prove it, because two processes may take themselves for one member. Both are
   * asked at the same time.
   *
   * Rejects with NotLeader or LeaderChanged, with Timeout or TimeoutWaitAppliedIndex at the bound, and with the signal's
   * reason.
   */
  async confirm(signal: AbortSignal, witness?: Witness): Promise<void> {
    const { current, driver, replica, applied, timeoutMs, onSuperseded } = this.#options;
    const { leadership } = current;
    if (leadership === undefined) throw new EngramError('NotLeader');
    const held = this.#checksOf(leadership.epoch).held();
    held.catch(() => {}); // the quorum may refuse first
    const confirmed = await driver.confirmLeadership(signal, witness);
    if (!(await held)) {
      onSuperseded(leadership.epoch);
      throw new EngramError('LeaderChanged');
    }
    await applied.reach(replica.next, timeoutMs);
    if (confirmed !== leadership.epoch || current.leadership !== leadership) throw new EngramError('LeaderChanged');
  }

  #checksOf(inEpoch: Epoch): SealChecks {
    if (this.#newest?.epoch !== inEpoch) {
      const { log, memberId, clock, timeoutMs } = this.#options;
      const seal = { epoch: inEpoch, holder: memberId };
      this.#newest = { epoch: inEpoch, checks: new SealChecks({ log, seal, clock, timeoutMs }) };
    }
    return this.#newest.checks;
  }
}

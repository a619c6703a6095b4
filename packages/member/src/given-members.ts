import type { Clock, Logger, Timer } from '@engram/core';
import type { ElectionDriver, Member as ElectedMember } from '@engram/election';

/** Whom a member that joins was told of. */
export interface Introduction {
  /** All members, this one included. */
  readonly members: readonly ElectedMember[];
  /** Asks anew: the members may all have been replaced since. */
  readonly read: (signal: AbortSignal) => Promise<readonly ElectedMember[]>;
}

export interface GivenMembersOptions {
  /** Undefined if this member is one of the first ones. */
  readonly introduction: Introduction | undefined;
  /** How often is looked whether those that were given are still members. */
  readonly intervalMs: number;
  readonly onRead: (members: readonly ElectedMember[]) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Watched = Pick<ElectionDriver, 'view' | 'leaderlessTimeouts'>;

/** After so many election timeouts without a word of a leader, the introduction may be out of date. */
const LEADERLESS_TIMEOUTS = 10;

/**
 * Whom a member takes for a member while it has no list of its own: those of its introduction. It is read anew as long as no
 * leader is heard of. Once the leader has sent the list, nobody is given any more.
 */
export class GivenMembers implements Disposable {
  readonly #options: GivenMembersOptions;
  readonly #closing = new AbortController();
  #ids: ReadonlySet<bigint>;
  #timer: Timer | undefined;

  constructor(options: GivenMembersOptions) {
    this.#options = options;
    this.#ids = idsOf(options.introduction?.members ?? []);
  }

  /** The election runs: from now on it is looked whether those that were given are still members. To be called once. */
  watch(election: Watched): void {
    const { introduction } = this.#options;
    if (introduction !== undefined) this.#arm(introduction, election);
  }

  has(member: bigint): boolean {
    return this.#ids.has(member);
  }

  [Symbol.dispose](): void {
    this.#closing.abort(new Error('the member stops'));
    this.#timer?.cancel();
  }

  #arm(introduction: Introduction, election: Watched): void {
    const { clock, intervalMs } = this.#options;
    this.#timer = clock.after(intervalMs, () => void this.#look(introduction, election));
  }

  async #look(introduction: Introduction, election: Watched): Promise<void> {
    const { logger, onRead } = this.#options;
    const { signal } = this.#closing;
    if (signal.aborted || election.view.cluster.members.length > 0) return;
    if (election.leaderlessTimeouts > LEADERLESS_TIMEOUTS) {
      try {
        const members = await introduction.read(signal);
        if (signal.aborted) return;
        this.#ids = idsOf(members);
        onRead(members);
      } catch (error) {
        if (signal.aborted) return;
        logger.warn({ error: String(error) }, 'could not read who is a member of the cluster that this member joins');
      }
    }
    this.#arm(introduction, election);
  }
}

const idsOf = (members: readonly ElectedMember[]): ReadonlySet<bigint> => new Set(members.map(({ id }) => id));

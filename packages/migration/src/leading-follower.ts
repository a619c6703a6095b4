import type { Following, NodeStats } from '@engram/backend';
import { type Clock, type Epoch, type Logger, sleep } from '@engram/core';
import { Follower, type Lag } from './follower.ts';
import { MigrationError } from './migration-error.ts';
import { type FollowingStore, StoreTarget } from './store-target.ts';
import type { Source } from './stores.ts';

/** Beside the data of a store that follows: while it is there, only the follower writes. Nobody puts it back. */
export interface FollowMark {
  /** Whether it is there, at a moment after the call, as each member sees it. Rejects where that cannot be found out now. */
  isThere(signal: AbortSignal): Promise<boolean>;
  /** Resolves when it is gone for good. After a rejection it is there, or not. */
  remove(signal: AbortSignal): Promise<void>;
}

export interface LeadingFollowerOptions {
  readonly source: Source;
  /** The store of this member. */
  readonly store: FollowingStore;
  readonly stats: Pick<NodeStats, 'leadsIn'>;
  readonly following: Following;
  readonly mark: FollowMark;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Changes of the leadership, and an end of the following elsewhere, are seen after this time. */
const LOOK_MS = 500;

interface Current {
  readonly epoch: Epoch;
  readonly follower: Follower;
}

/**
 * Follows an etcd while this member leads. Of the members of a cluster each has one, so whoever leads goes on where the last leader has
 * ended.
 *
 * Invariant: no revision of the follower comes behind one of somebody else. Clients are let in by a leader that knows the mark to be gone.
 * A follower looks for the mark when it leads already, and writes in that epoch only: whatever a leader before has let in, it did
 * before that look, which then finds no mark.
 */
export class LeadingFollower {
  readonly #options: LeadingFollowerOptions;
  #current: Current | undefined;

  constructor(options: LeadingFollowerOptions) {
    this.#options = options;
  }

  /** Undefined while this member does not follow the etcd. */
  get lag(): Lag | undefined {
    return this.#current?.follower.lag;
  }

  /**
   * Resolves when the store follows no more: by `cutOver`, here or at another member. Rejects with MigrationError or the store's error
   * where the leader cannot go on, and with the signal's reason.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { following, stats, clock, logger } = this.#options;
    while (following.active) {
      const epoch = stats.leadsIn;
      const isMarked = await this.#isMarked(signal);
      if (isMarked === false && following.active) {
        logger.info({}, 'the following was ended at another member');
        following.end();
      } else if (isMarked === true && epoch !== undefined && stats.leadsIn === epoch)
        await this.#followIn(epoch, signal);
      else if (following.active) await sleep(clock, LOOK_MS, signal);
    }
  }

  /**
   * Ends the following for good, if the store has all that the source has. Resolves with its revision when it takes writes. Rejects with
   * MigrationError: as `Follower.end`, and with `refused` if this member does not lead.
   */
  async cutOver(signal: AbortSignal): Promise<number> {
    const { stats, mark, following } = this.#options;
    const current = this.#current;
    if (current === undefined) {
      throw new MigrationError('refused', 'this member does not follow the etcd: the one that leads does, ask that');
    }
    return await current.follower.end(async () => {
      if (stats.leadsIn !== current.epoch) throw leadsNoMore();
      await mark.remove(signal);
      following.end();
      return current.follower.lag.at;
    }, signal);
  }

  /** Undefined: it cannot be found out now. */
  async #isMarked(signal: AbortSignal): Promise<boolean | undefined> {
    try {
      return await this.#options.mark.isThere(signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#options.logger.warn({ error: String(error) }, 'it is unknown whether the store still follows the etcd');
      return undefined;
    }
  }

  /** Until this leadership has ended, or the following. */
  async #followIn(epoch: Epoch, signal: AbortSignal): Promise<void> {
    const { source, store, stats, following, clock, logger } = this.#options;
    const leads = (): boolean => stats.leadsIn === epoch;
    const target = new StoreTarget({ store, caller: following.caller, leads });
    const follower = new Follower({ source, target, clock, logger });
    const ends = new AbortController();
    const both = AbortSignal.any([signal, ends.signal]);
    this.#current = { epoch, follower };
    const running = follower.run(both);
    try {
      await Promise.race([running, this.#ended(leads, both)]);
    } catch (error) {
      signal.throwIfAborted();
      // What another leader has written meanwhile shows here, and differs from what this one expects.
      if (following.active && leads()) throw error;
      logger.warn({ error: String(error) }, 'the etcd is followed here no more');
    } finally {
      ends.abort(leadsNoMore());
      await Promise.allSettled([running]);
      this.#current = undefined;
    }
  }

  async #ended(leads: () => boolean, signal: AbortSignal): Promise<void> {
    const { following, clock } = this.#options;
    while (following.active && leads() && (await this.#isMarked(signal)) !== false) await sleep(clock, LOOK_MS, signal);
  }
}

const leadsNoMore = (): MigrationError => new MigrationError('interrupted', 'this member does not lead any more');

import { ALARM_CORRUPT, type Backend, nodeItself } from '@engram/backend';
import { type Clock, EngramError, isEngramError, type Logger, sleep, type Timer, withDeadline } from '@engram/core';
import * as peerpb from './gen/peerpb.ts';
import { leaderError, readAnswer } from './leader-answer.ts';
import { noAnswer, PeerError, type Peers } from './peers.ts';

/** Intervals; 0: never. */
export interface CorruptionIntervals {
  /** Of the check at the newest revision: etcd's --corrupt-check-time. */
  readonly newestMs: number;
  /** Of the check at the last compaction: etcd's --compact-hash-check-time. */
  readonly compactedMs: number;
}

export interface CorruptionCheckOptions {
  readonly self: bigint;
  /** The other members, learners too. */
  readonly others: () => readonly bigint[];
  readonly store: Pick<Backend, 'hashKv' | 'activateAlarm' | 'compactRevision'>;
  readonly peers: Pick<Peers, 'call'>;
  readonly leads: () => boolean;
  /** The member that leads, as far as this one knows; 0: none. */
  readonly leader: () => bigint;
  readonly intervals: CorruptionIntervals;
  /** This member's data is not that of the others: it must not be used. */
  readonly onDiffers: (why: string) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long another member has for its hash. A million keys take some seconds. */
const ANSWER_MAX_MS = 60_000;
/** A member that is behind is asked again after this time, so often. */
const BEHIND_MS = 100;
const BEHIND_MAX = 20;
/** How long a start waits for a first other member. */
const START_MAX_MS = 3000;

interface Checked {
  readonly revision: number;
  /** By member; the members that have answered. */
  readonly hashes: ReadonlyMap<bigint, number>;
  readonly all: boolean;
}

/**
 * Compares the members' data, as etcd's corruption checker does (server/etcdserver/corrupt.go): the hashes of all keys at one
 * revision. The leader asks. A difference raises the alarm CORRUPT for the members that are not with the majority, or, where
 * there is none, for those that differ from the leader. Such a member is told what most others have; if it has something else
 * then, it ends, and starts again without its copy. A hash here depends on the living keys alone, not on compactions.
 */
export class CorruptionCheck implements Disposable {
  readonly #options: CorruptionCheckOptions;
  readonly #closing = new AbortController();
  readonly #timers = new Set<Timer>();
  #compactedChecked = 0;

  constructor(options: CorruptionCheckOptions) {
    this.#options = options;
    const { newestMs, compactedMs } = options.intervals;
    if (newestMs > 0) this.#repeat(newestMs, () => this.#checkNewest());
    if (compactedMs > 0) this.#repeat(compactedMs, () => this.#checkCompacted());
  }

  [Symbol.dispose](): void {
    this.#closing.abort(new EngramError('Stopped'));
    for (const timer of this.#timers) timer.cancel();
  }

  /** The answer to another member. Only the leader knows what most members have: this one ends for nobody else's word. */
  async answer(
    { revision, compare, expected }: peerpb.HashKv,
    from: bigint,
    signal: AbortSignal,
  ): Promise<peerpb.AnswerInit> {
    const { store, leader } = this.#options;
    const fromLeader = compare && from === leader(); // another one may lead when the hash is there
    const { hash, hashRevision } = await store.hashKv(revision, signal);
    if (fromLeader && hash !== expected) this.#differs(hashRevision, hash, expected);
    return { hash: { hash } };
  }

  /**
   * Compares this member, which does not serve yet, with the others. Rejects if one has another hash. Members that do not
   * answer, or cannot at this revision, are not compared (etcd: InitialCheck).
   */
  async checkSelf(): Promise<void> {
    const { logger, clock, self } = this.#options;
    const untilMs = clock.nowMs() + START_MAX_MS;
    let checked = await this.#ask(0);
    while (checked.hashes.size === 1 && this.#options.others().length > 0 && clock.nowMs() < untilMs) {
      await sleep(clock, BEHIND_MS, this.#closing.signal);
      checked = await this.#ask(0);
    }
    const { revision, hashes } = checked;
    const own = hashes.get(self)!;
    const different = [...hashes].filter(([, hash]) => hash !== own).map(([member]) => member.toString(16));
    if (different.length === 0) {
      logger.info({ revision, members: hashes.size }, 'the data is that of the other members');
      return;
    }
    logger.error({ revision, members: different }, 'found different hash values from remote peers');
    this.#options.onDiffers(`its data at revision ${revision} is not that of ${different.join()}`);
    throw new Error(`found data inconsistency with peers: ${different.join()} at revision ${revision}`);
  }

  async #checkNewest(): Promise<void> {
    await this.#check(0);
  }

  async #checkCompacted(): Promise<void> {
    const { compactRevision } = this.#options.store;
    if (compactRevision <= this.#compactedChecked) return;
    if (await this.#check(compactRevision)) this.#compactedChecked = compactRevision;
  }

  /** True if all members have answered. */
  async #check(wanted: number): Promise<boolean> {
    const { leads, self, store, logger } = this.#options;
    if (!leads()) return false;
    const { revision, hashes, all } = await this.#ask(wanted);
    // Also shows what this member reads differently the second time.
    const again = await store.hashKv(revision, this.#closing.signal);
    if (!leads()) return false;
    const own = hashes.get(self)!;
    const common = majority(hashes);
    const odd = [...hashes].filter(([, hash]) => hash !== (common ?? own)).map(([member]) => member);
    if (again.hash !== own && !odd.includes(self)) odd.push(self);
    for (const member of odd) {
      const named = { member: member.toString(16), revision, hash: hashes.get(member), expected: common };
      logger.error(named, 'found hash mismatch: the alarm CORRUPT is raised');
      await store.activateAlarm({ memberId: member, alarm: ALARM_CORRUPT }, nodeItself);
    }
    if (common !== undefined) for (const member of odd) await this.#compare(member, revision, common);
    return all;
  }

  /** Has a member compare its hash with that of most others. */
  async #compare(member: bigint, revision: number, expected: number): Promise<void> {
    const { self } = this.#options;
    if (member !== self) await this.#hashOf(member, { revision, compare: true, expected });
    else await this.answer({ revision, compare: true, expected }, self, this.#closing.signal);
  }

  #differs(revision: number, hash: number, expected: number): void {
    this.#options.onDiffers(
      `the hash of its data at revision ${revision} is ${hash}, and that of most members ${expected}`,
    );
  }

  /** The hashes of all members that answer, at this revision. 0: the newest of this member. */
  async #ask(wanted: number): Promise<Checked> {
    const { self, others, store } = this.#options;
    const { hash, hashRevision: revision } = await store.hashKv(wanted, this.#closing.signal);
    const hashes = new Map([[self, hash]]);
    let all = true;
    const asked = others().map(async (member) => {
      const answer = await this.#hashOf(member, { revision });
      if (answer === undefined) all = false;
      else hashes.set(member, answer);
    });
    await Promise.all(asked);
    return { revision, hashes, all };
  }

  /** Undefined if the member does not answer, is far behind, or has compacted the revision. */
  async #hashOf(member: bigint, hashKv: peerpb.HashKvInit): Promise<number | undefined> {
    const { peers, logger, clock, self } = this.#options;
    const request = peerpb.encodeRequest({ member: self, hashKv });
    const ask = async (signal: AbortSignal): Promise<number | undefined> => {
      for (let times = 0; ; times += 1) {
        const answer = readAnswer(await peers.call(member, request, signal));
        if (answer.error === 'FutureRev' && times < BEHIND_MAX) await sleep(clock, BEHIND_MS, signal);
        else if (answer.error !== '') throw leaderError(answer);
        else return answer.hash?.hash; // a member of an earlier version says nothing
      }
    };
    try {
      return await withDeadline(clock, ANSWER_MAX_MS, noAnswer, ask, this.#closing.signal);
    } catch (error) {
      this.#closing.signal.throwIfAborted();
      if (!(error instanceof PeerError) && !isEngramError(error)) throw error;
      logger.info({ member: member.toString(16), error: error.message }, 'a member is not compared');
      return undefined;
    }
  }

  #repeat(intervalMs: number, work: () => Promise<void>): void {
    this.#after(intervalMs, () => {
      void work()
        .catch((error: unknown) => {
          if (!this.#closing.signal.aborted)
            this.#options.logger.warn({ error: String(error) }, 'a corruption check has failed');
        })
        .then(() => {
          if (!this.#closing.signal.aborted) this.#repeat(intervalMs, work);
        });
    });
  }

  #after(ms: number, fire: () => void): void {
    const timer = this.#options.clock.after(ms, () => {
      this.#timers.delete(timer);
      fire();
    });
    this.#timers.add(timer);
  }
}

/** The hash that more than half of these members have. */
function majority(hashes: ReadonlyMap<bigint, number>): number | undefined {
  const counts = new Map<number, number>();
  for (const hash of hashes.values()) counts.set(hash, (counts.get(hash) ?? 0) + 1);
  return [...counts].find(([, count]) => count > hashes.size / 2)?.[0];
}

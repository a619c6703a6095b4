import { nodeItself } from '@engram/backend';
import { type Clock, EngramError, isEngramError, type LogPosition, sleep } from '@engram/core';
import { Inbox, type Loop, type Task } from '@engram/loop';
import type { RemoteLeader } from './remote-leader.ts';

export interface ReadIndexOptions {
  readonly clock: Clock;
  readonly loop: Loop;
  /** How long a read waits at most for a leader. */
  readonly timeoutMs: number;
  /** Whether this node leads, as far as it knows. */
  readonly leads: () => boolean;
  /** Confirms by a quorum that this node leads now. Rejects with NotLeader or LeaderChanged if it does not. */
  readonly confirm: (signal: AbortSignal) => Promise<void>;
  /** The last entry of Raft's log that this node knows to be committed. */
  readonly commitIndex: () => number;
  readonly remote: Pick<RemoteLeader, 'ask'>;
  /**
   * The end of the log when this node read it at its start. The leader may have had no answer for the last batch then.
   * Reads at the leader do not show such a batch yet, so reads here must not show it either.
   */
  readonly recovered: LogPosition;
}

const RETRY_MS = 20;
/** How long a round waits at most for the reads of a busy node: while each turn brings some, or since the last round began. */
const GATHER_MAX_MS = 1;
/** The same in turns, which cost CPU where nothing else is to be done. */
const GATHER_TURNS_MAX = 32;
/** A round waits for this share of the reads that the last one served: clients that wait for answers come again at once. */
const RETURNING_SHARE = 0.9;
/** The least time between the begins of two rounds, for each read that the first one served, where it served many. */
const SPACING_MS = 0.008;
const MANY_READS = 16;

/** Reads begin where their round has ended: as urgent as the answers to writes. */
const READS: Task = { work: 'durable', caller: 'reads', stage: 'read-index' };
/** Reads of a round that begin together. Each may be a long list, whose first slice is taken there and then. */
const READS_TOGETHER = 2;

/**
 * Linearizable reads. One round serves all the reads that wait for it. A read that comes while a round is under way waits
 * for the next one, because the current round may miss writes that were acknowledged since it began.
 *
 * A round costs every member of a majority a message and an answer, and the leader a question to the log, 0.2 ms of CPU in all. So it
 * begins only when a turn has brought no further read, and the clients of the last round have come again. Measured beside rounds
 * that do not wait for these: with 8 and 32 reads in flight rates are 31 to 37 and 7 to 10 % higher, and p50 0.15 and 0.1 ms lower;
 * with 256 no difference was above the noise.
 */
export class ReadIndex {
  readonly #options: ReadIndexOptions;
  /**
   * Reads whose round has ended. They begin in slices of the loop: hundreds of lists that wait for one round would keep it for a
   * slice each.
   */
  readonly #ended: Inbox<() => void>;
  /** Those of the next round. It begins when the round under way has ended. Undefined: nobody waits for one. */
  #next: PromiseWithResolvers<void>[] | undefined;
  #underWay: Promise<unknown> = Promise.resolve();
  /** Counts the reads, so that a round sees whether a turn has brought some. */
  #asked = 0;
  /** What the last round served, when it began, and `#asked` at that time. */
  #served = 0;
  #beganMs = Number.NEGATIVE_INFINITY;
  #askedBefore = 0;
  #slow = 0;
  #failed = 0;
  #raftIndex = 0;
  /** A leader has said that it has applied everything before `recovered`. */
  #isKnown = false;

  constructor(options: ReadIndexOptions) {
    this.#options = options;
    this.#ended = new Inbox(options.loop, READS, (settle) => settle(), READS_TOGETHER);
  }

  /**
   * Resolves when this node has applied everything that any client was told of before the call. The round has the bound of
   * a request, and goes on when a caller gives up: others may wait for it.
   */
  wait(): Promise<void> {
    this.#asked += 1;
    const read = Promise.withResolvers<void>();
    if (this.#next === undefined) {
      this.#next = [];
      this.#begin(this.#next);
    }
    this.#next.push(read);
    return read.promise;
  }

  /**
   * What a leader had committed of Raft's log, at least, when it answered the last round that has ended well. 0 also if that leader is
   * of a version that does not say it.
   */
  get raftIndex(): number {
    return this.#raftIndex;
  }

  /** Rounds that no leader has answered in time. */
  get slow(): number {
    return this.#slow;
  }

  /** Rounds that have failed otherwise. */
  get failed(): number {
    return this.#failed;
  }

  #begin(reads: readonly PromiseWithResolvers<void>[]): void {
    const round = this.#underWay
      .then(() => this.#gather())
      .then(() => {
        this.#next = undefined;
        return this.#round();
      });
    this.#underWay = round.then(
      () => this.#ended.take(reads.map(({ resolve }) => resolve)),
      (error: unknown) => {
        if (isEngramError(error, 'Timeout') || isEngramError(error, 'NoLeader')) this.#slow += 1;
        else this.#failed += 1;
        const refuses =
          ({ reject }: PromiseWithResolvers<void>) =>
          (): void =>
            reject(error);
        this.#ended.take(reads.map(refuses));
      },
    );
  }

  /** Resolves when no further reads are to be expected, or at the bound. A lone read waits for the end of its own turn. */
  async #gather(): Promise<void> {
    const { clock } = this.#options;
    const untilMs = clock.nowMs() + GATHER_MAX_MS;
    const returned = this.#askedBefore + this.#served * RETURNING_SHARE;
    const returnedMs = this.#beganMs + GATHER_MAX_MS;
    const spacedMs = this.#served < MANY_READS ? 0 : this.#beganMs + Math.min(GATHER_MAX_MS, this.#served * SPACING_MS);
    for (let turn = 0; turn < GATHER_TURNS_MAX; turn += 1) {
      const seen = this.#asked;
      await new Promise<void>((resolve) => clock.soon(resolve));
      const nowMs = clock.nowMs();
      const comes = this.#asked > seen && nowMs < untilMs;
      const returns = this.#asked < returned && nowMs < returnedMs;
      if (!comes && !returns && nowMs >= spacedMs) break;
    }
    this.#beganMs = clock.nowMs();
    this.#served = this.#asked - this.#askedBefore;
    this.#askedBefore = this.#asked;
  }

  /** Confirms this node's own leadership if it leads; otherwise asks the leader. */
  async #round(): Promise<void> {
    const { clock, timeoutMs, leads, confirm, commitIndex, remote } = this.#options;
    const deadlineMs = clock.nowMs() + timeoutMs;
    while (leads()) {
      try {
        await confirm(nodeItself.signal);
        this.#raftIndex = commitIndex();
        return;
      } catch (error) {
        const changed = isEngramError(error, 'NotLeader') || isEngramError(error, 'LeaderChanged');
        if (!changed || clock.nowMs() >= deadlineMs) throw error;
      }
      await sleep(clock, RETRY_MS);
    }
    for (;;) {
      const { position, raftIndex } = await remote.ask(
        { readIndex: {} },
        { ...nodeItself, timeoutMs: Math.max(1, deadlineMs - clock.nowMs()) },
      );
      this.#isKnown ||= position >= this.#options.recovered;
      if (this.#isKnown) {
        this.#raftIndex = raftIndex;
        return;
      }
      if (clock.nowMs() >= deadlineMs) throw new EngramError('Timeout');
      await sleep(clock, RETRY_MS);
    }
  }
}

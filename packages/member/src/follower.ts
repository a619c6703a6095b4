import type { ReadBatch, Replica } from '@engram/backend';
import type { Clock, Logger, LogPosition } from '@engram/core';
import { type LogBatch, type Storage, StorageUnavailableError, endOf } from '@engram/storage';
import type { KnownLeader, Leader } from './known-leader.ts';
import { PeerError, type Peers } from './peers.ts';

interface FollowerOptions {
  readonly memberId: bigint;
  readonly replica: Replica;
  readonly storage: Storage;
  readonly peers: Peers;
  readonly leader: KnownLeader;
  /** The end of the log, according to this leader. Undefined if it does not answer or no longer leads. */
  readonly endOf: (leader: Leader, signal: AbortSignal) => Promise<LogPosition | undefined>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A batch of this leader was not taken. */
  readonly onRefused: (leader: bigint) => void;
  /** The name of a member, for warnings; undefined if it is not in the member list. */
  readonly nameOf: (member: bigint) => string | undefined;
  /** The log is damaged, or an invariant is broken: the node must end. */
  readonly onFatal: (error: Error) => void;
}

const IDLE_MS = 1000;
const RETRY_MS = 20;
/** How long a leader is not followed after a batch of it was refused: twice as long each time, until one is taken. */
const REFUSED_MS_MIN = 100;
const REFUSED_MS_MAX = 5000;
/** Records that were handed to the replica and have not taken effect. Above this bound the stream waits. */
const LAG_RECORDS_MAX = 200_000;

/**
 * Keeps a replica at the end of the log while another member leads. It takes the leader's stream of committed batches, and
 * reads the log if the stream does not go back far enough.
 *
 * Invariant: it takes no batch that the leader does not know of. The log may hold a batch whose leader has no answer yet,
 * and reads at the leader do not show that batch. If this member showed it first, a later read at the leader would miss it.
 *
 * A batch of the stream is decoded and checked before anything of it is taken. One that no leader writes is refused, and the
 * stream ends: the leader or the way from it is at fault. The log itself is believed.
 */
export class Follower {
  readonly #options: FollowerOptions;
  #running: { readonly abort: AbortController; readonly ended: Promise<void> } | undefined;
  /** The leader whose batch was refused last, and how long it is not followed then. Undefined once one was taken. */
  #refused: { readonly leader: Leader; readonly pauseMs: number } | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Does nothing if it follows already. */
  start(): void {
    if (this.#running !== undefined) return;
    const abort = new AbortController();
    this.#running = { abort, ended: this.#run(abort.signal) };
  }

  /** Resolves when the replica gets no more batches from this follower. */
  async stop(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    running.abort.abort();
    await running.ended;
    if (this.#running === running) this.#running = undefined;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { leader, clock, memberId, logger } = this.#options;
    while (!signal.aborted) {
      let pauseMs = RETRY_MS;
      try {
        const known = await leader
          .when(({ memberId: other }) => other !== memberId, clock.nowMs() + IDLE_MS, signal)
          .catch(() => undefined);
        if (signal.aborted) return;
        const end = known === undefined ? undefined : await this.#options.endOf(known, signal);
        if (known !== undefined && end !== undefined) await this.#follow(known, end, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!isPassing(error)) {
          this.#options.onFatal(error instanceof Error ? error : new Error('following failed', { cause: error }));
          return;
        }
        if (error instanceof RefusedBatch) pauseMs = this.#refusedBatch(error);
        else logger.debug({ error: String(error) }, 'lost the stream of committed batches');
      }
      // The stream has ended, or there is none: the leader may not have taken over yet.
      await this.#pause(pauseMs, signal);
    }
  }

  /** Returns how long this leader is not followed. */
  #refusedBatch({ leader, message }: RefusedBatch): number {
    const { onRefused, nameOf, logger } = this.#options;
    const before = this.#refused;
    const again = before?.leader.memberId === leader.memberId && before.leader.epoch === leader.epoch;
    const pauseMs = again ? Math.min(REFUSED_MS_MAX, 2 * before.pauseMs) : REFUSED_MS_MIN;
    this.#refused = { leader, pauseMs };
    onRefused(leader.memberId);
    if (!again) {
      const member = leader.memberId.toString(16);
      logger.error({ member, name: nameOf(leader.memberId), error: message }, 'refused a batch of the leader');
    }
    return pauseMs;
  }

  /** Ends earlier when there is another leader. */
  #pause(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        stopListening();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = this.#options.clock.after(ms, end);
      const stopListening = this.#options.leader.onChange(end);
      signal.addEventListener('abort', end);
    });
  }

  /** The leader has the batches that were committed lately. Only older batches are read from the log. */
  async #follow(known: Leader, end: LogPosition, signal: AbortSignal): Promise<void> {
    try {
      await this.#followStream(known, signal);
      return;
    } catch (error) {
      if (!(error instanceof PeerError) || error.fault !== 'behind') throw error;
    }
    await this.#readLog(end, signal);
    await this.#followStream(known, signal);
  }

  async #readLog(end: LogPosition, signal: AbortSignal): Promise<void> {
    const { storage, replica } = this.#options;
    if (replica.next >= end) return;
    for await (const batch of storage.log.read(replica.next, signal)) {
      if (signal.aborted) return;
      await this.#take(batch, signal);
      if (replica.next >= end) return;
    }
  }

  /** Ends when the known leader changes, although the stream may go on: a leader that is stopped does not end it. */
  async #followStream(known: Leader, signal: AbortSignal): Promise<void> {
    const { peers, replica, storage, leader } = this.#options;
    const changed = new AbortController();
    const endIfChanged = (): void => {
      if (leader.current?.memberId !== known.memberId || leader.current.epoch !== known.epoch) changed.abort();
    };
    const stopListening = leader.onChange(endIfChanged);
    endIfChanged(); // the leader may have changed while this member asked for the end of the log, or read it
    const either = AbortSignal.any([signal, changed.signal]);
    try {
      if (either.aborted) return;
      for await (const batch of peers.follow(known.memberId, replica.next, either)) {
        if (either.aborted) return;
        if (endOf(batch) <= replica.next) continue;
        if (batch.first !== replica.next) return; // a gap: `#run` begins again
        const read = await replica.read(batch);
        if (typeof read === 'string') throw new RefusedBatch(known, read);
        if (either.aborted) return;
        await storage.values.adopt?.(batch);
        await this.#take(batch, signal, read);
        this.#refused = undefined;
      }
    } catch (error) {
      if (error instanceof PeerError && error.fault === 'refused') throw new RefusedBatch(known, error.message);
      throw error;
    } finally {
      stopListening();
    }
  }

  async #take(batch: LogBatch, signal: AbortSignal, read?: ReadBatch): Promise<void> {
    const { replica } = this.#options;
    if (signal.aborted) return;
    await replica.follow(batch, read);
    if (replica.next - replica.applied > LAG_RECORDS_MAX) await replica.whenApplied();
  }
}

class RefusedBatch extends Error {
  override readonly name = 'RefusedBatch';
  readonly leader: Leader;

  constructor(leader: Leader, fault: string) {
    super(fault);
    this.leader = leader;
  }
}

/** Whether another try may help: the leader or storage could not be reached, or the leader sent something else than a batch. */
function isPassing(error: unknown): boolean {
  return error instanceof PeerError || error instanceof RefusedBatch || error instanceof StorageUnavailableError;
}

import type { Replica } from '@engram/backend';
import { type Clock, type Logger, type LogPosition, logPosition } from '@engram/core';
import { type LogBatch, type Storage, StorageUnavailableError } from '@engram/storage';
import type { KnownLeader, Leader } from './known-leader.ts';
import { PeerError, type Peers } from './peers.ts';

export interface FollowerOptions {
  readonly memberId: bigint;
  readonly replica: Replica;
  readonly storage: Storage;
  readonly peers: Peers;
  readonly leader: KnownLeader;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told after batches were handed to the replica. */
  readonly onProgress: () => void;
  /** The log is damaged, or an invariant is broken: the node must end. */
  readonly onFatal: (error: Error) => void;
}

/** How long a node that knows no leader waits before it looks into the log by itself. */
const IDLE_MS = 1000;
const RETRY_MS = 100;
/** Batches that have been handed over and have not taken effect: the stream waits above it. */
const LAG_RECORDS_MAX = 200_000;

/**
 * Keeps a replica at the end of the log while another member leads: from the leader's stream of committed batches, and
 * from the log wherever the stream has a gap, is broken, or does not go back far enough.
 */
export class Follower {
  readonly #options: FollowerOptions;
  #running: { readonly abort: AbortController; readonly ended: Promise<void> } | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Nothing where it follows already. */
  start(): void {
    if (this.#running !== undefined) return;
    const abort = new AbortController();
    this.#running = { abort, ended: this.#run(abort.signal) };
  }

  /** Resolves when the replica gets nothing more from here. */
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
      try {
        const known = await leader
          .when(({ memberId: other }) => other !== memberId, clock.nowMs() + IDLE_MS, signal)
          .catch(() => undefined);
        if (signal.aborted) return;
        await this.#readLog(signal);
        if (known !== undefined) await this.#followStream(known, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!isPassing(error)) {
          this.#options.onFatal(error instanceof Error ? error : new Error('following failed', { cause: error }));
          return;
        }
        logger.debug({ error: String(error) }, 'lost the stream of committed batches');
        await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
      }
    }
  }

  async #readLog(signal: AbortSignal): Promise<void> {
    const { storage, replica } = this.#options;
    for await (const batch of storage.log.read(replica.next, signal)) {
      if (signal.aborted) return;
      await this.#take(batch, signal);
    }
  }

  async #followStream({ memberId }: Leader, signal: AbortSignal): Promise<void> {
    const { peers, replica, storage } = this.#options;
    for await (const batch of peers.follow(memberId, replica.next, signal)) {
      if (signal.aborted) return;
      if (endOf(batch) <= replica.next) continue;
      if (batch.first !== replica.next) return; // a gap: the log has it
      await storage.values.adopt?.(batch);
      await this.#take(batch, signal);
    }
  }

  async #take(batch: LogBatch, signal: AbortSignal): Promise<void> {
    const { replica, onProgress } = this.#options;
    if (signal.aborted) return;
    replica.follow(batch);
    onProgress();
    if (replica.next - replica.applied > LAG_RECORDS_MAX) await replica.settled();
  }
}

const endOf = (batch: LogBatch): LogPosition => logPosition(batch.first + batch.records.length);

/** What another try may mend: the way to the leader or to storage. */
function isPassing(error: unknown): boolean {
  return error instanceof PeerError || error instanceof StorageUnavailableError;
}

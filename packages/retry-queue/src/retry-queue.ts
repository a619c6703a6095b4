import { assert, type Clock, type Logger, type LogPosition, type Seal, sleep } from '@engram/core';
import type { AppendOutcome, Log, LogBatch } from '@engram/storage';
import { defaultRetryPolicy, type RetryPolicy, retryDelayMs } from './retry-policy.ts';
import type { Unsettled } from './unsettled.ts';

export type SettledOutcome = Exclude<AppendOutcome, { kind: 'uncertain' }>;

export interface RetryQueueOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends an unsettled append for good, when the leadership is lost or the node closes. */
  readonly signal: AbortSignal;
  readonly policy?: RetryPolicy;
  /**
   * Whether it is certain, without asking the storage, that a seal later than `seal` holds the log. Called after each retry
   * that ended `uncertain`. Must not reject, and must end in a bounded time.
   */
  readonly isSuperseded?: (seal: Seal) => Promise<boolean>;
}

/**
 * The port `Log` without uncertain outcomes. If an append ends `uncertain`, the same batch is appended again at the same
 * position, until the storage answers `committed`, `fenced` or `trimmed`. So the batch is in the log once or never. If the storage does
 * not answer, but a later leader is known to hold the log, the outcome is `superseded`: the batch cannot come into the log any
 * more, and the log that the later leader passes on shows whether it is there. Rejected designs: reading the log (the batch
 * may still be under way), and sealing it with this leader's next epoch (each lost answer would be a takeover).
 *
 * Invariant: no other batch is appended before the batch is settled, so no batch is acknowledged behind a gap. When `append`
 * has resolved or rejected, no attempt of it is under way in this process.
 */
export class RetryQueue implements Log {
  readonly #options: RetryQueueOptions;
  readonly #policy: RetryPolicy;
  /** Undefined if no append is under way. */
  #appendStartMs: number | undefined;
  #unsettled: Unsettled | undefined;

  constructor(options: RetryQueueOptions) {
    this.#options = options;
    this.#policy = options.policy ?? defaultRetryPolicy;
  }

  /** The append that is being settled, for health checks and for the timeouts of waiting writers. Usually undefined. */
  get unsettled(): Unsettled | undefined {
    return this.#unsettled;
  }

  /** Time since the append under way began, with all its attempts. 0 if there is none. */
  get appendMs(): number {
    return this.#appendStartMs === undefined ? 0 : this.#options.clock.nowMs() - this.#appendStartMs;
  }

  get knownEnd(): LogPosition | undefined {
    return this.#options.log.knownEnd;
  }

  chainAt(position: LogPosition): Uint8Array | undefined {
    return this.#options.log.chainAt?.(position);
  }

  /**
   * Rejects with the storage's error if the storage takes no more appends (StorageFailedError, StorageClosedError). If the
   * signal fires, it waits for the attempt under way. If that ends `uncertain`, it rejects with the signal's reason. Then the
   * batch may be in the log, and the next seal decides.
   */
  async append(batch: LogBatch, seal: Seal): Promise<SettledOutcome> {
    assert(this.#appendStartMs === undefined, 'two appends at a time');
    this.#appendStartMs = this.#options.clock.nowMs();
    try {
      this.#options.signal.throwIfAborted();
      const outcome = await this.#options.log.append(batch, seal);
      return outcome.kind === 'uncertain' ? await this.#settle(batch, seal, outcome.cause) : outcome;
    } finally {
      this.#appendStartMs = undefined;
      this.#unsettled = undefined;
    }
  }

  read(from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch> {
    return this.#options.log.read(from, signal);
  }

  /** A later seal settles an unsettled append: the next attempt finds the batch in the log, or is fenced. */
  seal(seal: Seal): Promise<LogPosition> {
    return this.#options.log.seal(seal);
  }

  heldBy(seal: Seal, signal: AbortSignal): Promise<boolean> {
    return this.#options.log.heldBy(seal, signal);
  }

  async #settle(batch: LogBatch, seal: Seal, firstCause: unknown): Promise<SettledOutcome> {
    const { clock, log, logger, signal } = this.#options;
    const sinceMs = clock.nowMs();
    let cause = firstCause;
    logger.warn({ first: batch.first, err: cause }, 'an append is uncertain: it is tried again');
    for (let attempts = 1; ; attempts += 1) {
      this.#unsettled = { batch, sinceMs, attempts, cause };
      await sleep(clock, retryDelayMs(this.#policy, attempts - 1), signal);
      this.#unsettled = { batch, sinceMs, attempts: attempts + 1, cause };
      const outcome = await log.append(batch, seal);
      if (outcome.kind === 'uncertain') {
        cause = outcome.cause;
        if ((await this.#options.isSuperseded?.(seal)) !== true) continue;
        logger.info({ first: batch.first, attempts: attempts + 1 }, 'gave up an append: a later leader holds the log');
        return { kind: 'superseded' };
      }
      const tookMs = clock.nowMs() - sinceMs;
      logger.info({ first: batch.first, outcome: outcome.kind, attempts: attempts + 1, tookMs }, 'settled an append');
      return outcome;
    }
  }
}

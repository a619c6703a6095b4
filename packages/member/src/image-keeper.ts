import type { Replica } from '@engram/backend';
import { AssertionError, type Clock, type Logger, type Timer } from '@engram/core';
import type { ImageBase, ImagePart, SharedImage } from '@engram/storage';

/** When an image is written, and how fast. */
export interface ImagePolicy {
  /** A new one is due when the log behind the last one is as large as that; within these bounds. */
  readonly everyBytesMin: number;
  readonly everyBytesMax: number;
  /** While one is written, so that writers keep their share of storage. */
  readonly bytesPerSecond: number;
  readonly pageBytes: number;
  /** How often this member looks, and says what it needs of the log. */
  readonly intervalMs: number;
}

export const defaultImagePolicy: ImagePolicy = {
  everyBytesMin: 256 << 20,
  everyBytesMax: 4 * 2 ** 30,
  bytesPerSecond: 16 << 20,
  pageBytes: 64 << 10,
  intervalMs: 5_000,
};

export interface ImageKeeperOptions {
  readonly replica: Pick<Replica, 'applied' | 'needed' | 'sharedImage'>;
  readonly image: SharedImage;
  /** Whether this member leads: only then it writes images, and trims the log. */
  readonly leads: () => boolean;
  readonly policy: ImagePolicy;
  readonly clock: Clock;
  readonly logger: Logger;
  /** An invariant is broken: the node must end. */
  readonly onFatal: (error: Error) => void;
}

/** The leadership has ended while an image was written: it is given up. */
class LeadsNoMore extends Error {
  override readonly name = 'LeadsNoMore';
}

/**
 * Keeps the image that members share young while this one leads, and the log behind it short. Every member says now and then
 * from where on it needs the log. What fails is tried again with the next look: nothing depends on it but space and the
 * time of a start.
 */
export class ImageKeeper implements AsyncDisposable {
  readonly #options: ImageKeeperOptions;
  readonly #closing = new AbortController();
  #timer: Timer | undefined;
  #saying: Promise<void> | undefined;
  #working: Promise<void> | undefined;
  #collecting: Promise<void> | undefined;

  constructor(options: ImageKeeperOptions) {
    this.#options = options;
    this.#look();
  }

  /** What is under way is given up. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new LeadsNoMore('the member stops'));
    this.#timer?.cancel();
    await Promise.all([this.#saying, this.#working, this.#collecting]);
  }

  #look(): void {
    const { clock, policy, leads } = this.#options;
    if (this.#closing.signal.aborted) return;
    this.#saying ??= this.#try('say what this member needs of the log', () => this.#say()).finally(() => {
      this.#saying = undefined;
    });
    if (leads()) {
      this.#working ??= this.#try('keep the image of the store', () => this.#work()).finally(() => {
        this.#working = undefined;
      });
      this.#collecting ??= this.#try('let storage forget old versions', () => this.#collect()).finally(() => {
        this.#collecting = undefined;
      });
    }
    this.#timer = clock.after(policy.intervalMs, () => this.#look());
  }

  async #say(): Promise<void> {
    const { image, replica } = this.#options;
    await image.need(replica.needed, this.#closing.signal);
  }

  async #work(): Promise<void> {
    const { image, policy, logger } = this.#options;
    const { signal } = this.#closing;
    const status = await image.status(signal);
    const due = Math.min(policy.everyBytesMax, Math.max(policy.everyBytesMin, status.imageBytes));
    if (status.logBytesBehind >= due) await this.#save();
    const trimmed = await image.trim(signal);
    if (trimmed !== undefined) logger.info(trimmed, 'trimmed the log');
  }

  async #collect(): Promise<void> {
    await this.#options.image.collectGarbage?.(this.#closing.signal);
  }

  async #save(): Promise<void> {
    const { image, replica, policy, clock, logger } = this.#options;
    const { signal } = this.#closing;
    const startMs = clock.nowMs();
    const pace = (bytes: number): Promise<void> => this.#pace(bytes);
    const { from, parts } = replica.sharedImage({ pageBytes: policy.pageBytes, pace, signal });
    logger.info({ from }, 'writes an image of the store');
    const awaited = (base: ImageBase): AsyncIterable<ImagePart> => this.#untilApplied(parts(base));
    const outcome = await image.save(from, awaited, signal, pace);
    logger.info(
      { from, outcome, 'took-ms': Math.round(clock.nowMs() - startMs) },
      'ended writing an image of the store',
    );
  }

  /**
   * The image lacks what is compacted by now. A member that has not applied that far still reads it, for the superseded values
   * that its watchers want, and so does one whose readers began before: it waits for them, as long as they live.
   */
  async *#untilApplied(parts: AsyncIterable<ImagePart>): AsyncGenerator<ImagePart> {
    yield* parts;
    const { image, replica, policy } = this.#options;
    const applied = replica.applied;
    for (;;) {
      const needed = await image.lowestNeed(this.#closing.signal);
      if (needed === undefined || needed >= applied) return;
      await this.#wait(policy.intervalMs / 5);
    }
  }

  #pace(bytes: number): Promise<void> {
    return this.#wait((bytes / this.#options.policy.bytesPerSecond) * 1000);
  }

  /** Rejects when this member leads no more, or stops. */
  #wait(ms: number): Promise<void> {
    const { leads, clock } = this.#options;
    const { signal } = this.#closing;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', end);
        if (signal.aborted) reject(signal.reason);
        else if (leads()) resolve();
        else reject(new LeadsNoMore('another member leads'));
      };
      const timer = clock.after(ms, end);
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
    });
  }

  /** Never rejects. */
  async #try(what: string, work: () => Promise<void>): Promise<void> {
    const { logger, onFatal } = this.#options;
    try {
      await work();
    } catch (error) {
      if (error instanceof AssertionError) onFatal(error);
      else if (!this.#closing.signal.aborted) logger.warn({ error: String(error) }, `could not ${what}`);
    }
  }
}

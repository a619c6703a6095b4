import type { Replica } from '@engram/backend';
import { AssertionError, type Clock, type Logger, sleep, type Timer } from '@engram/core';
import type { ImageBase, ImagePart, SharedImage } from '@engram/storage';

/** When an image is written, and how fast. */
export interface ImagePolicy {
  /** A new image is due when the log behind the last image is as large as that image, within these two bounds. */
  readonly everyBytesMin: number;
  readonly everyBytesMax: number;
  /** The rate at which an image is written. The limit leaves writers their share of storage. */
  readonly bytesPerSecond: number;
  readonly pageBytes: number;
  /** How often this member looks for work, and reports from where on it needs the log. */
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
  /** Whether this member leads. Only the leader writes images and trims the log. */
  readonly leads: () => boolean;
  /** The name of a member, for warnings; undefined if it is not in the member list. */
  readonly nameOf: (member: bigint) => string | undefined;
  readonly policy: ImagePolicy;
  readonly clock: Clock;
  readonly logger: Logger;
  /** An invariant is broken: the node must end. */
  readonly onFatal: (error: Error) => void;
}

/** The image under way is given up: the leadership has ended, or the member stops. */
class LeadsNoMore extends Error {
  override readonly name = 'LeadsNoMore';
}

/**
 * While this member leads, it renews the image that the members share, and trims the log. Every member reports periodically
 * from where on it needs the log. Failed work is tried again at the next interval: only space and the time of a start
 * depend on it.
 */
export class ImageKeeper implements AsyncDisposable {
  readonly #options: ImageKeeperOptions;
  readonly #closing = new AbortController();
  #timer: Timer | undefined;
  #saying: Promise<void> | undefined;
  #working: Promise<void> | undefined;
  #collecting: Promise<void> | undefined;
  /** Those for which a warning was logged. */
  #leftBehind: ReadonlySet<bigint> = new Set();

  constructor(options: ImageKeeperOptions) {
    this.#options = options;
    this.#look();
  }

  /** Gives up the work under way. */
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
    this.#reportLeftBehind();
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
   * The image lacks the versions that are compacted by now. A member that has not applied that far still reads them, for
   * the superseded values that its watchers want. So does a member whose readers began before. The image waits for these
   * members, but not for one that storage has left behind.
   */
  async *#untilApplied(parts: AsyncIterable<ImagePart>): AsyncGenerator<ImagePart> {
    yield* parts;
    const { image, replica, policy } = this.#options;
    const applied = replica.applied;
    for (;;) {
      const needed = await image.lowestNeed(applied, this.#closing.signal);
      this.#reportLeftBehind();
      if (needed === undefined || needed >= applied) return;
      await this.#wait(policy.intervalMs / 5);
    }
  }

  /** Once for each member that trims and images do not wait for any more, although it lives. */
  #reportLeftBehind(): void {
    const { image, logger, nameOf } = this.#options;
    const left = (image.holders ?? []).filter(({ leftBehind }) => leftBehind);
    for (const { member, from, heldMs } of left) {
      if (this.#leftBehind.has(member)) continue;
      const fields = { member: member.toString(16), name: nameOf(member), needs: from, 'held-ms': Math.round(heldMs) };
      logger.warn(fields, 'a member held the log back for too long: trims and images go on without it');
    }
    this.#leftBehind = new Set(left.map(({ member }) => member));
  }

  #pace(bytes: number): Promise<void> {
    return this.#wait((bytes / this.#options.policy.bytesPerSecond) * 1000);
  }

  /** Rejects when this member no longer leads, or stops. */
  async #wait(ms: number): Promise<void> {
    const { leads, clock } = this.#options;
    await sleep(clock, ms, this.#closing.signal);
    if (!leads()) throw new LeadsNoMore('another member leads');
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

import { type Clock, type Logger, type LogPosition, logPosition } from '@engram/core';
import type { Loop, Task } from '@engram/loop';
import {
  type LocalShare,
  type LogBatch,
  StorageCorruptError,
  StorageDivergedError,
  endOf,
  recordBytes,
} from '@engram/storage';
import { isTikvError } from '@engram/tikv-client';
import { chainBehind } from '../format/batch-format.ts';
import { type Chain, chainOf } from '../format/chain.ts';
import type { ImageCopy } from './image-copy.ts';
import type { LocalCopy } from './local-copy.ts';
import type { BatchLocator } from '../log/batch-locator.ts';
import { ChainMismatch, readBatches } from '../log/log-reader.ts';
import type { LogSource } from '../log/log-source.ts';
import type { RecentBatches } from '../log/recent-batches.ts';
import type { SharedRecords } from '../image/shared-records.ts';
import { TakenLog } from '../log/taken-log.ts';

/** What another member has sent waits for this before it takes effect. */
const ADOPT: Task = { work: 'durable', caller: 'log', stage: 'adopt' };

export interface NodeBytesParts {
  readonly source: LogSource;
  readonly index: BatchLocator;
  readonly recent: RecentBatches;
  readonly shared: SharedRecords;
  /** Undefined on a node without a disk. */
  readonly copy: LocalCopy | undefined;
  /** For the records before the copy. */
  readonly imageCopy: ImageCopy | undefined;
  readonly clock: Clock;
  readonly loop: Loop;
  readonly logger: Logger;
  readonly closing: AbortSignal;
}

/** What is known of a batch besides its records: the chain of the log behind it, and the bytes of the log up to there. */
interface KnownOfBatch {
  readonly chain?: Chain;
  readonly logBytes?: number;
}

/** How far the log goes. */
export interface LogExtent {
  readonly next: LogPosition;
  /** The bytes of all its records. */
  readonly logBytes: number;
}

/** A disk that takes longer than this to make room is not waited for until it has. */
const ROOM_MAX_MS = 500;
/** The pause after a failed attempt to fetch what the copy lacks. */
const CATCH_UP_AGAIN_MS = 1_000;

/** Finds the log's records: in memory, in this node's copies, or in TiKV, where they are in the log or in the image. */
export class NodeBytes {
  readonly #parts: NodeBytesParts;
  /** What the node itself has taken, in order. */
  readonly taken = new TakenLog();
  #newest: LogExtent = { next: logPosition(1), logBytes: 0 };
  #catchingUp: Promise<void> | undefined;
  #catchUpFromMs = Number.NEGATIVE_INFINITY;
  /** The disk has not made room within its bound, nor since. */
  #diskHangs = false;

  constructor(parts: NodeBytesParts) {
    this.#parts = parts;
  }

  /** The farthest known end of the log, and the bytes of its records up to there. */
  get newest(): LogExtent {
    return this.#newest;
  }

  /** Notes that the log goes at least as far as this. */
  saw(extent: LogExtent): void {
    if (extent.next > this.#newest.next) this.#newest = extent;
  }

  get copy(): LocalCopy | undefined {
    return this.#parts.copy;
  }

  /**
   * Keeps a batch that is in the log. The promise, if defined, resolves when the copy has room for the next batch, or after
   * ROOM_MAX_MS: a disk that hangs must not keep this member from following, or from taking over.
   */
  keep(batch: LogBatch, known: KnownOfBatch = {}): Promise<void> | undefined {
    const { recent, copy } = this.#parts;
    const { logBytes = this.#newest.logBytes + recordBytes(batch.records), chain } = known;
    this.saw({ next: endOf(batch), logBytes });
    this.taken.took(batch.first, endOf(batch), chain);
    if (copy === undefined) {
      recent.add(batch);
      return undefined;
    }
    const { taken, room } = copy.offer(batch, chain);
    // The copy finds what it has taken. Kept here as well, batches would die in the old generation of the heap.
    if (!taken) {
      recent.add(batch);
      if (endOf(batch) > copy.next) void this.catchUp();
    }
    return room && this.#withinBound(room);
  }

  /**
   * As `keep`, for a batch that another node has sent. Rejects with StorageDivergedError if the batch has another chain: this
   * node, or the one that passed it on, has something else before it or in it.
   */
  async adopt(batch: LogBatch): Promise<void> {
    const { copy, loop, source } = this.#parts;
    const { first } = batch;
    const given = batch.chain && chainOf(batch.chain);
    const before = this.taken.chainAt(first) ?? (copy?.next === first ? copy.chain : undefined);
    if (before === undefined) return await this.keep(batch, given === undefined ? {} : { chain: given });
    const chain = await loop.run(ADOPT, chainBehind(before, batch, loop));
    if (given !== undefined && given !== chain) {
      throw await this.diverged(`the batch at ${first} of ${source.name} does not continue what this node has taken`);
    }
    // The copy takes the batch only if it still ends before it, with this chain.
    await this.keep(batch, { chain });
  }

  /** Gives up what this node has of the log, so that its next start does not use it. Returns the error to end with. */
  async diverged(what: string, cause?: unknown): Promise<StorageDivergedError> {
    const error = new StorageDivergedError(`this node differs from its cluster, and must start anew: ${what}`, {
      cause,
    });
    await this.#parts.copy?.discard(error);
    return error;
  }

  #withinBound(room: Promise<void>): Promise<void> | undefined {
    if (this.#diskHangs) return undefined;
    const { clock, logger } = this.#parts;
    return new Promise((resolve) => {
      const timer = clock.after(ROOM_MAX_MS, () => {
        if (!this.#diskHangs)
          logger.warn({ waitedMs: ROOM_MAX_MS }, 'the disk of the copy of the log does not keep up');
        this.#diskHangs = true;
        resolve();
      });
      void room.then(() => {
        timer.cancel();
        this.#diskHangs = false;
        resolve();
      });
    });
  }

  /** The records, in the order of `positions`. If TiKV must be asked, rejects as `SharedRecords.getMany` does. */
  async getMany(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const { recent, copy } = this.#parts;
    const records = new Array<Uint8Array | undefined>(positions.length);
    const written: number[] = [];
    const elsewhere: number[] = [];
    for (const [at, position] of positions.entries()) {
      const record = copy?.waiting(position) ?? recent.get(position);
      if (record !== undefined) records[at] = record;
      else if (copy?.has(position)) written.push(at);
      else elsewhere.push(at);
    }
    const fill = (places: readonly number[], found: readonly Uint8Array[]): void => {
      for (const [index, at] of places.entries()) records[at] = found[index];
    };
    const at = (places: readonly number[]): LogPosition[] => places.map((place) => positions[place]!);
    if (copy !== undefined && written.length > 0) {
      try {
        fill(written, await copy.getMany(at(written), signal));
      } catch (error) {
        if (!(error instanceof StorageCorruptError)) throw error;
        this.#damaged(error);
        elsewhere.push(...written);
      }
    }
    if (elsewhere.length > 0) fill(elsewhere, await this.#beside(at(elsewhere), signal));
    return records.map((record) => record!);
  }

  /** Reads the copy of the image, and TiKV for the records that the copy lacks. */
  async #beside(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const { imageCopy, shared } = this.#parts;
    if (imageCopy?.complete !== true) return await shared.getMany(positions, signal);
    const found = new Map<LogPosition, Uint8Array>();
    await imageCopy.find(positions, found, signal);
    const missing = positions.filter((position) => !found.has(position));
    if (missing.length > 0) {
      const rest = await shared.getMany(missing, signal);
      for (const [at, position] of missing.entries()) found.set(position, rest[at]!);
    }
    return positions.map((position) => found.get(position)!);
  }

  /** How much this node has of the part of the image that it needs; undefined if it keeps no bytes. */
  get local(): LocalShare | undefined {
    const { copy, imageCopy } = this.#parts;
    if (copy === undefined || imageCopy === undefined) return undefined;
    return copy.begin === 1 ? { bytes: 0, of: 0, whole: true } : imageCopy.share;
  }

  /** Fetches the image's records in the background, if the copy begins behind them. */
  fetchImage(): Promise<void> {
    const { copy, imageCopy } = this.#parts;
    if (copy === undefined || copy.failed || copy.begin === 1) return Promise.resolve();
    return imageCopy?.fetch() ?? Promise.resolve();
  }

  peek(position: LogPosition, inline = false): Uint8Array | undefined {
    const { recent, copy } = this.#parts;
    return copy?.waiting(position) ?? recent.get(position) ?? copy?.peek(position, inline);
  }

  /** Yields batches of the copy from `from` on, up to the copy's end or the first damage. */
  async *read(from: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    const { copy } = this.#parts;
    if (copy === undefined) return;
    try {
      yield* copy.read(from, signal);
    } catch (error) {
      if (!(error instanceof StorageCorruptError)) throw error;
      this.#damaged(error);
    }
  }

  /** Fetches what the copy lacks, in the background. Resolves when the copy has it, or cannot get it now. */
  catchUp(): Promise<void> {
    const { copy, clock, closing } = this.#parts;
    if (copy === undefined || copy.failed || closing.aborted) return Promise.resolve();
    if (this.#catchingUp === undefined && clock.nowMs() >= this.#catchUpFromMs) {
      this.#catchingUp = this.#fetch(copy).finally(() => {
        this.#catchingUp = undefined;
      });
    }
    return this.#catchingUp ?? Promise.resolve();
  }

  /** Resolves when no fetch for the copy of the log is running. */
  async idle(): Promise<void> {
    await this.#catchingUp;
  }

  async #fetch(copy: LocalCopy): Promise<void> {
    const { source, index, clock, closing, logger } = this.#parts;
    try {
      const range = { from: copy.next, chain: copy.chain };
      for await (const batch of readBatches(source, index, range, closing)) {
        const { taken, room } = copy.offer(batch, batch.header.chain);
        await room;
        if (!taken && room !== undefined) copy.offer(batch, batch.header.chain);
      }
    } catch (error) {
      this.#catchUpFromMs = clock.nowMs() + CATCH_UP_AGAIN_MS;
      if (closing.aborted) return;
      const gone = error instanceof StorageCorruptError && copy.next < (await this.#trimmedBefore());
      if (error instanceof ChainMismatch) await copy.discard(error);
      else if (gone) copy.abandon(error);
      else if (isTikvError(error)) logger.warn({ err: error }, 'cannot fetch yet what the copy of the log lacks');
      else logger.error({ err: error }, 'cannot fetch what the copy of the log lacks');
    }
  }

  /** The log before this position may be deleted; 1 if TiKV does not answer. */
  async #trimmedBefore(): Promise<LogPosition> {
    const { shared, closing } = this.#parts;
    return await shared.trimmedBefore(closing).catch(() => logPosition(1));
  }

  #damaged(error: StorageCorruptError): void {
    this.#parts.logger.warn({ err: error }, 'the copy of the log is damaged: TiKV is asked instead');
  }
}

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { assert, type Logger, type LogPosition, logPosition, Mutex, NEW_LOG_SEAL, Waiters } from '@engram/core';
import { finish, unhurried } from '@engram/loop';
import {
  type Checkpoint,
  type LogBatch,
  type Storage,
  StorageCorruptError,
  StorageFailedError,
  type StorageSize,
  batchFrom,
  endOf,
  recordBytes,
} from '@engram/storage';
import { chainBehind, type StoredBatch } from '../format/batch-format.ts';
import type { Chain } from '../format/chain.ts';
import { readMark, writeMark } from './copy-mark.ts';
import { ChainMismatch } from '../log/log-reader.ts';

/** Opens or creates the storage that holds a copy. Its content need not survive a crash of the machine. */
export type OpenCopyStorage = (path: string) => Promise<Storage>;

export interface LocalCopyOptions {
  /** A directory of the copy's own. The copy may delete everything in it. */
  readonly path: string;
  readonly openStorage: OpenCopyStorage;
  /** With more bytes of waiting batches than this, `offer` takes no batch: it is fetched from TiKV later. */
  readonly queueBytesMax: number;
  readonly clusterId: bigint;
  readonly prefix: string;
  /** The chain of the log when it was empty. */
  readonly empty: Chain;
  readonly logger: Logger;
}

/** Where a new copy begins. */
export interface CopyStart {
  /** The copy takes the whole batch that holds this position, and the batches behind it. */
  readonly from: LogPosition;
  /** The chain of the log before `from`, if `from` is known to lie between two batches. */
  readonly chain: Chain | undefined;
}

/** With more than this share of the queue's bound waiting, `offer` returns `room`, so that callers can wait. */
const HIGH_SHARE = 1 / 8;
/** The mark is written after this many bytes. The next start reads the bytes behind the mark to compute the chain. */
const MARK_BYTES = 64 << 20;

const never = new AbortController().signal;

/** A batch that waits to be written to the copy. */
interface Waiting {
  readonly batch: LogBatch;
  readonly bytes: number;
  /** The chain of the log behind the batch. */
  readonly chain: Chain;
}

/**
 * The node's own copy of the log, with the chain at its end. It has no gap from its first record on. With it, the node finds
 * the bytes of versions without TiKV; its loss costs only time.
 *
 * A copy begins with the log, or where the node began to read the log after it had started from an image. The copy's storage
 * counts positions from there. A copy is replaced if it is damaged at opening, or if its mark is missing or names another log.
 * A copy that can no longer be written, or proves damaged later, is still read as far as it goes.
 */
export class LocalCopy {
  readonly #options: LocalCopyOptions;
  readonly #storage: Storage;
  /** The position of its first record. Undefined as long as only the first batch can tell it. */
  #begin: LogPosition | undefined;
  /** `from` of the newest checkpoint. */
  #checkpointFrom: LogPosition | undefined;
  /** In the order of the log. Batches before `#head` are written, and their memory is given up. */
  #waiting: (Waiting | undefined)[] = [];
  #head = 0;
  #waitingBytes = 0;
  /** The end of the written batches, and the chain there. */
  #end: LogPosition;
  #endChain: Chain | undefined;
  #unmarkedBytes = 0;
  #writing: Promise<void> | undefined;
  /** Marks are written one after the other, because each replaces the file. */
  readonly #marks = new Mutex();
  readonly #room = new Waiters();
  #failed = false;

  private constructor(
    options: LocalCopyOptions,
    storage: Storage,
    begin: LogPosition | undefined,
    end: LogPosition,
    chain: Chain | undefined,
  ) {
    this.#options = options;
    this.#storage = storage;
    this.#begin = begin;
    this.#end = end;
    this.#endChain = chain;
  }

  /** Opens an existing copy of this cluster's log; undefined if there is none. Rejects if its storage cannot be opened. */
  static async open(options: LocalCopyOptions): Promise<LocalCopy | undefined> {
    try {
      return await LocalCopy.#openExisting(options);
    } catch (error) {
      // Another process has locked it, or it holds something else: it must not be deleted.
      if (!(error instanceof StorageCorruptError)) throw error;
      options.logger.warn({ path: options.path, err: error }, 'the copy of the log is damaged, and fetched again');
    }
    return undefined;
  }

  /** Deletes what is in the directory, and creates an empty copy. */
  static async create(options: LocalCopyOptions, { from, chain }: CopyStart): Promise<LocalCopy> {
    // The mark goes first, because the rest of a copy is not used without its mark.
    await rm(markPath(options), { force: true });
    await rm(options.path, { recursive: true, force: true });
    const storage = await options.openStorage(storagePath(options));
    const copy = new LocalCopy(options, storage, chain === undefined ? undefined : from, from, chain);
    if (chain !== undefined) await copy.#mark();
    return copy;
  }

  static async #openExisting(options: LocalCopyOptions): Promise<LocalCopy | undefined> {
    const mark = await readMark(markPath(options));
    if (mark?.clusterId !== options.clusterId || mark.prefix !== options.prefix) return undefined;
    const storage = await options.openStorage(storagePath(options));
    try {
      const { begin } = mark;
      const end = logPosition((await storage.log.seal(NEW_LOG_SEAL)) + begin - 1);
      if (end < mark.position) throw new StorageCorruptError(`it ends at ${end}, before its mark`, options.path);
      let { chain } = mark;
      const inside = logPosition(mark.position - begin + 1);
      for await (const { first, records } of storage.log.read(inside, never)) {
        chain = finish(chainBehind(chain, { first: logPosition(first + begin - 1), records }, unhurried));
      }
      const copy = new LocalCopy(options, storage, begin, end, chain);
      const checkpoint = await copy.loadCheckpoint();
      // A copy is not synced, so a crash of the machine may take any part of it. Damage that showed only when the state is
      // loaded would end this start, and each one after it.
      if (checkpoint !== undefined) for await (const chunk of checkpoint.chunks(never)) void chunk;
      copy.#checkpointFrom = checkpoint?.from;
      return copy;
    } catch (error) {
      await storage[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The position behind its last record, including batches that wait to be written. */
  get next(): LogPosition {
    const last = this.#waiting.at(-1);
    return last === undefined ? this.#end : endOf(last.batch);
  }

  /** The position of its first record, or of the record that it waits for. */
  get begin(): LogPosition {
    return this.#begin ?? this.#end;
  }

  /** `from` of the newest checkpoint; undefined if there is none. */
  get checkpointFrom(): LogPosition | undefined {
    return this.#checkpointFrom;
  }

  /** The chain of the log before `next`. Undefined as long as only the first batch can tell it. */
  get chain(): Chain | undefined {
    return this.#waiting.at(-1)?.chain ?? this.#endChain;
  }

  /** The copy takes no more batches. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Bytes of batches that wait to be written. */
  get queuedBytes(): number {
    return this.#waitingBytes;
  }

  get #isHigh(): boolean {
    return this.#waitingBytes > this.#options.queueBytesMax * HIGH_SHARE;
  }

  size(): StorageSize {
    return this.#storage.values.size();
  }

  async reclaim(): Promise<void> {
    await this.#storage.values.reclaim?.();
  }

  /** The copy must have all these records. Rejects with StorageCorruptError if one is damaged. */
  getMany(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    return this.#storage.values.getMany(
      positions.map((position) => this.#inside(position)),
      signal,
    );
  }

  peek(position: LogPosition, inline: boolean): Uint8Array | undefined {
    return this.has(position) ? this.#storage.values.peek(this.#inside(position), inline) : undefined;
  }

  /** The copy must have all these records, and the newest checkpoint must cover them. */
  drop(positions: readonly LogPosition[], bytes: number | undefined): Promise<void> {
    return this.#storage.values.drop(
      positions.map((position) => this.#inside(position)),
      bytes,
    );
  }

  async loadCheckpoint(): Promise<Checkpoint | undefined> {
    const checkpoint = await this.#storage.values.loadCheckpoint();
    if (checkpoint === undefined) return undefined;
    const from = logPosition(checkpoint.from + this.begin - 1);
    return { from, chunks: (signal) => checkpoint.chunks(signal) };
  }

  /**
   * Takes a batch that begins where the copy ends, unless too many bytes wait for the disk, and ignores any other. `room`, if
   * defined, resolves when the next batch would not wait for the disk, which a disk that hangs delays without a bound. `chain`
   * is the chain of the log behind the batch, if the caller knows it.
   *
   * A batch that TiKV has names the chain before it. Throws ChainMismatch, and takes no more batches, if the copy has another
   * one there: it has what the log has not. Otherwise its chain would be the log's from then on, and no start would notice.
   */
  offer(
    batch: LogBatch | StoredBatch,
    chain?: Chain,
  ): { readonly taken: boolean; readonly room: Promise<void> | undefined } {
    const continues = batch.first === this.next || (this.#begin === undefined && this.#isFirst(batch));
    if (!continues || this.#failed) return { taken: false, room: undefined };
    this.#expectToGoOn(batch);
    if (this.#waitingBytes > this.#options.queueBytesMax) return { taken: false, room: this.#room.next() };
    const before = this.chain;
    const behind = chain ?? (before && finish(chainBehind(before, batch, unhurried)));
    if (behind === undefined) return { taken: false, room: undefined };
    if (this.#begin === undefined) {
      this.#begin = batch.first;
      this.#end = batch.first;
    }
    const bytes = recordBytes(batch.records);
    this.#waiting.push({ batch, bytes, chain: behind });
    this.#waitingBytes += bytes;
    this.#writing ??= this.#write();
    return { taken: true, room: this.#isHigh ? this.#room.next() : undefined };
  }

  /** A record that waits to be written. */
  waiting(position: LogPosition): Uint8Array | undefined {
    const batch = this.#waitingAt(position);
    return batch?.records[position - batch.first];
  }

  #waitingAt(position: LogPosition): LogBatch | undefined {
    let [low, high] = [this.#head, this.#waiting.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (endOf(this.#waiting[middle]!.batch) <= position) low = middle + 1;
      else high = middle;
    }
    const batch = this.#waiting[low]?.batch;
    return batch !== undefined && batch.first <= position ? batch : undefined;
  }

  /** Whether the record is written. It may still be damaged. */
  has(position: LogPosition): boolean {
    return this.#begin !== undefined && this.#begin <= position && position < this.#end;
  }

  /** Yields the batches from `from` on: the written ones, then those that wait. Does not wait for them to be written. */
  async *read(from: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    for (let position = from; ; ) {
      const before = position;
      const waiting = this.#waitingAt(position);
      if (waiting !== undefined) {
        position = endOf(waiting);
        yield batchFrom(waiting, before);
      } else if (this.has(position)) {
        for await (const { first, records } of this.#storage.log.read(this.#inside(before), signal)) {
          const batch = { first: logPosition(first + this.begin - 1), records };
          position = endOf(batch);
          yield batch;
        }
      }
      if (position === before) return;
    }
  }

  /** Resolves when every batch that was taken is written, or the copy has failed. */
  async written(): Promise<void> {
    await this.#writing;
  }

  /**
   * Also moves the mark: records before a checkpoint may be dropped, and the next start could not read them for the chain.
   */
  async saveCheckpoint(from: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#storage.values.saveCheckpoint(this.#inside(from), chunks);
    this.#checkpointFrom = from;
    await this.#mark();
  }

  async close(): Promise<void> {
    await this.written();
    if (!this.#failed && this.#endChain !== undefined)
      await this.#mark().catch((error: unknown) => this.abandon(error));
    await this.#marks.idle();
    await this.#storage[Symbol.asyncDispose]();
  }

  async #write(): Promise<void> {
    for (let next = this.#waiting[this.#head]; next !== undefined; next = this.#waiting[this.#head]) {
      try {
        const first = this.#inside(next.batch.first);
        const outcome = await this.#storage.log.append({ first, records: next.batch.records }, NEW_LOG_SEAL);
        if (outcome.kind === 'uncertain') throw outcome.cause;
        if (outcome.kind === 'fenced') throw new StorageFailedError('the copy of the log is sealed by somebody');
        const unmarked = this.#endChain === undefined;
        this.#wrote(next);
        if (unmarked || this.#unmarkedBytes > MARK_BYTES) await this.#mark();
      } catch (error) {
        this.abandon(error);
      }
      if (!this.#isHigh) this.#room.wakeAll();
    }
    this.#writing = undefined;
  }

  #wrote({ batch, bytes, chain }: Waiting): void {
    this.#end = endOf(batch);
    this.#endChain = chain;
    this.#waitingBytes -= bytes;
    this.#unmarkedBytes += bytes;
    this.#waiting[this.#head] = undefined;
    this.#head += 1;
    // On average, each entry is moved at most once.
    if (this.#head * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
  }

  #mark(): Promise<void> {
    const { clusterId, prefix } = this.#options;
    return this.#marks.run(async () => {
      const [begin, position, chain] = [this.#begin, this.#end, this.#endChain];
      assert(begin !== undefined && chain !== undefined, 'a copy without a record is marked');
      if (this.#failed) return;
      this.#unmarkedBytes = 0;
      await writeMark(markPath(this.#options), { clusterId, prefix, begin, position, chain });
    });
  }

  /**
   * Abandons the copy and removes its mark, so that the next start does not use it. Where the disk does not let the mark go, that is
   * logged alone: the next start compares the copy with the log again, and `error` is what the node has to end with.
   */
  async discard(error: unknown): Promise<void> {
    const { path, logger } = this.#options;
    this.abandon(error);
    try {
      await this.#marks.run(() => rm(markPath(this.#options), { force: true }));
    } catch (err) {
      logger.error({ path, err }, 'the mark of the copy of the log cannot be removed: the next start may use the copy');
    }
  }

  /** Stops writing. The batches that wait are in the log, and are read from there. */
  abandon(error: unknown): void {
    const { path, logger } = this.#options;
    if (!this.#failed) logger.error({ path, err: error }, 'the copy of the log is given up: reads go to TiKV');
    this.#failed = true;
    this.#waiting = [];
    this.#head = 0;
    this.#waitingBytes = 0;
    this.#room.wakeAll();
  }

  #expectToGoOn(batch: LogBatch | StoredBatch): void {
    const ours = this.chain;
    if (!('header' in batch) || ours === undefined || batch.header.previous === ours) return;
    const error = new ChainMismatch(
      `the batch at ${batch.first} of the log does not continue the copy in ${this.#options.path}`,
    );
    // The mark of before would let the next start go on with what was written.
    void this.discard(error);
    throw error;
  }

  #isFirst(batch: LogBatch): boolean {
    return batch.first <= this.#end && this.#end < endOf(batch);
  }

  /** The position as the copy's storage counts it. */
  #inside(position: LogPosition): LogPosition {
    assert(this.#begin !== undefined && position >= this.#begin, 'a position before the copy');
    return logPosition(position - this.#begin + 1);
  }
}

const storagePath = ({ path }: LocalCopyOptions): string => join(path, 'log');
const markPath = ({ path }: LocalCopyOptions): string => join(path, 'mark');

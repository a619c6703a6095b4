import type { Clock } from '@engram/core';
import type { Condition } from './condition.ts';
import type { StorageFile } from './file-system.ts';

const RESERVE_BYTES_MIN = 256 << 10;
const RESERVE_BYTES_MAX = 8 << 20;
/** A small segment is reserved in as many parts as a large one. */
const SEGMENT_PARTS = 16;
/** A reserve that is used up faster than this is followed by one twice as large. */
const FAST_MS = 1000;
/** A reserve that lasts longer than this is followed by one half as large. */
const SLOW_MS = 60_000;
/**
 * An append of so many bytes waits for its bytes, and not for the file system. Zeros ahead of such appends are written for nothing: a
 * store that is filled in large batches would write everything twice.
 */
export const LARGE_APPEND_BYTES = 1 << 20;
/** Zeros are synced after this many bytes, so that an append meanwhile waits little for the disk. */
const STEP_BYTES = 256 << 10;
/** The bytes of one write. An append that reaches a piece being written waits for that piece only. */
const PIECE_BYTES = 256 << 10;
const ZEROS = new Uint8Array(PIECE_BYTES);

/** Writes zeros in steps, each of them synced. */
export async function writeZeros(file: StorageFile, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += PIECE_BYTES) {
    await file.write(ZEROS.subarray(0, Math.min(PIECE_BYTES, to - at)), at);
    await file.sync();
  }
}

/** The size of a segment's first reserve. */
export function reserveBytesMin(segmentBytes: number): number {
  return Math.min(RESERVE_BYTES_MIN, segmentBytes / SEGMENT_PARTS);
}

/**
 * Writes zeros ahead of the frames. A durable write over existing bytes costs half of one that extends the file,
 * because the file system has nothing to record. This runs in the background and delays an append by one piece at most.
 * If appends catch up, the file grows with them.
 */
export class Preallocation {
  readonly #file: StorageFile;
  readonly #limit: number;
  readonly #pieceBytes: number;
  readonly #clock: Clock;
  readonly #condition: Condition;
  /** Writes before this offset do not extend the file. */
  #reserved: number;
  /** Appends have taken the bytes before this offset. */
  #claimed: number;
  /** What the last of them took. */
  #lastBytes = 0;
  #bytes: number;
  #startedMs: number;
  #piece: { readonly begin: number; readonly end: number; readonly done: Promise<void> } | undefined;
  #run: Promise<void> | undefined;
  #stopped = false;

  /**
   * `file` is the segment, opened a second time without durable writes; `stop` closes it. `end` is where its frames
   * end, `reserved` where its zeros end. Nothing is reserved after `limit`. `bytes` is the size of the first reserve.
   */
  constructor(
    file: StorageFile,
    range: { readonly end: number; readonly reserved: number; readonly limit: number; readonly bytes: number },
    clock: Clock,
    condition: Condition,
  ) {
    this.#file = file;
    this.#claimed = range.end;
    this.#reserved = range.reserved;
    this.#limit = range.limit;
    this.#pieceBytes = Math.min(PIECE_BYTES, range.limit / SEGMENT_PARTS);
    this.#bytes = range.bytes;
    this.#clock = clock;
    this.#condition = condition;
    this.#startedMs = clock.nowMs();
  }

  /** The current size of a reserve. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Call it before an append writes up to `end`. If it returns a promise, the append must wait for it. */
  claim(end: number): Promise<void> | undefined {
    const from = this.#claimed;
    this.#claimed = end;
    this.#lastBytes = end - from;
    const piece = this.#piece;
    // Later pieces begin after `end`.
    if (piece === undefined || piece.end <= from || piece.begin >= end) return undefined;
    return piece.done.catch(() => {});
  }

  /** Call it after an append. Reserves more if little is left and the append was not a large one. */
  advance(): void {
    this.#reserved = Math.max(this.#reserved, this.#claimed);
    if (this.#stopped || this.#run !== undefined || this.#reserved >= this.#limit) return;
    if (this.#lastBytes >= LARGE_APPEND_BYTES) return;
    if (this.#reserved - this.#claimed > this.#bytes / 2) return;
    const nowMs = this.#clock.nowMs();
    const tookMs = nowMs - this.#startedMs;
    this.#startedMs = nowMs;
    if (tookMs < FAST_MS) this.#bytes = Math.min(RESERVE_BYTES_MAX, this.#bytes * 2);
    else if (tookMs > SLOW_MS) this.#bytes = Math.max(reserveBytesMin(this.#limit), this.#bytes / 2);
    this.#run = this.#reserve(Math.min(this.#limit, this.#claimed + this.#bytes)).finally(() => {
      this.#run = undefined;
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#run;
    await this.#file.close();
  }

  async #reserve(target: number): Promise<void> {
    try {
      while (this.#reserved < target && !this.#stopped) {
        const end = Math.min(this.#reserved + STEP_BYTES, target);
        for (let at = this.#reserved; at < end && !this.#stopped; ) {
          at = Math.max(at, this.#claimed);
          const length = Math.min(this.#pieceBytes, end - at);
          if (length <= 0) break;
          const done = this.#file.write(ZEROS.subarray(0, length), at);
          this.#piece = { begin: at, end: at + length, done };
          at += length;
          await done;
          this.#piece = undefined;
        }
        await this.#file.sync();
        this.#reserved = Math.max(end, this.#claimed);
      }
    } catch (error) {
      // Appends continue without a reserve. If the disk is full, they report it.
      this.#stopped = true;
      this.#condition.logger.warn({ path: this.#condition.path, err: error }, 'cannot reserve space for appends');
    } finally {
      this.#piece = undefined;
    }
  }
}

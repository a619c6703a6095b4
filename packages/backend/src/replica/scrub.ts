import { type Clock, compareBytes, EMPTY_BYTES, type Logger, type LogPosition, sleep, type Timer } from '@engram/core';
import {
  recordBytes,
  type Storage,
  StorageClosedError,
  StorageCorruptError,
  StorageFailedError,
} from '@engram/storage';
import type { Replica } from './replica.ts';

export interface ScrubOptions {
  readonly replica: Pick<Replica, 'state' | 'pins' | 'revision'>;
  readonly storage: Pick<Storage, 'log' | 'values'>;
  /** How fast it reads at most. */
  readonly bytesPerSecond: number;
  /** Time before the first pass, and between two. */
  readonly pauseMs: number;
  /** Called for each pass that has found damage in what the next start reads (decision 17). */
  readonly onReplayDamage: (error: Error) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Since the start. */
export interface ScrubCounts {
  readonly records: number;
  readonly bytes: number;
  readonly damaged: number;
  readonly passes: number;
}

/** Records that are read together. */
const RECORDS_MAX = 200;

/**
 * Reads back what storage holds, at a bounded rate: the checkpoint, the log behind it, and the record of each version that a
 * reader may ask for. Storage verifies what it reads. A disk that rots is noticed then, and not when a client or the next
 * start needs the bytes. Only on a node that is alone: a member of a cluster finds damage of its copy when it reads it, and
 * reads TiKV instead.
 */
export class Scrub implements AsyncDisposable {
  readonly #options: ScrubOptions;
  readonly #closing = new AbortController();
  readonly #counts = { records: 0, bytes: 0, damaged: 0, passes: 0 };
  #timer: Timer | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: ScrubOptions) {
    this.#options = options;
    this.#later();
  }

  get counts(): ScrubCounts {
    return this.#counts;
  }

  /** Resolves when nothing is read any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new StorageClosedError('the scrub ends'));
    this.#timer?.cancel();
    await this.#running;
  }

  #later(): void {
    const { clock, pauseMs, logger } = this.#options;
    this.#timer = clock.after(pauseMs, () => {
      this.#running = this.#pass().catch((error: unknown) => {
        if (this.#closing.signal.aborted || isOver(error)) return;
        logger.warn({ error: String(error) }, 'a scrub has failed');
      });
      void this.#running.then(() => {
        if (!this.#closing.signal.aborted) this.#later();
      });
    });
  }

  async #pass(): Promise<void> {
    const { logger, clock, onReplayDamage } = this.#options;
    const before = { ...this.#counts };
    const startMs = clock.nowMs();
    const damage = await this.#readReplay();
    await this.#readVersions();
    this.#counts.passes += 1;
    const { records, bytes, damaged } = this.#counts;
    const found = { records: records - before.records, bytes: bytes - before.bytes, damaged: damaged - before.damaged };
    logger.info({ ...found, 'took-ms': Math.round(clock.nowMs() - startMs) }, 'read back what storage holds');
    if (damage !== undefined) onReplayDamage(damage);
  }

  /**
   * What the next start reads. A checkpoint that is saved meanwhile replaces both parts, and files that are cleaned move: then they
   * are read again. What cannot be read twice is damage, and returned.
   */
  async #readReplay(): Promise<Error | undefined> {
    const { values, log } = this.#options.storage;
    const { signal } = this.#closing;
    for (let failedAt: LogPosition | undefined; ; ) {
      const checkpoint = await values.loadCheckpoint();
      try {
        if (checkpoint !== undefined)
          for await (const chunk of checkpoint.chunks(signal)) await this.#verified(0, chunk.length);
        for await (const { records } of log.read(checkpoint?.from ?? (1 as LogPosition), signal))
          await this.#verified(records.length, recordBytes(records));
        return undefined;
      } catch (error) {
        if (!(error instanceof StorageCorruptError)) throw error;
        const from = checkpoint?.from ?? (1 as LogPosition);
        if (failedAt === from) {
          this.#damaged(error, { checkpoint: from });
          return error;
        }
        failedAt = from;
      }
    }
  }

  async #readVersions(): Promise<void> {
    const { pins, state } = this.#options.replica;
    const place: Place = { key: EMPTY_BYTES, below: undefined };
    for (let more = true; more; ) {
      const read = { records: 0, bytes: 0 };
      // What is invisible from this revision on may be freed at any time. The rest stays while the pin is held: not for longer
      // than the reading takes, because compactions wait for it.
      const { compactRevision } = state;
      {
        using _pin = pins.hold(compactRevision);
        const positions: LogPosition[] = [];
        more = this.#collect(place, compactRevision, positions);
        if (positions.length > 0) await this.#readRecords(positions, read);
      }
      await this.#verified(read.records, read.bytes);
    }
  }

  /** Collects the next positions, and moves the place. False at the end. */
  #collect(place: Place, compactRevision: number, into: LogPosition[]): boolean {
    const { index, revision } = this.#options.replica.state;
    let rest: Uint8Array | undefined;
    const next = index.walk(place.key, RECORDS_MAX, (key, head) => {
      if (rest !== undefined) return;
      let slot = head;
      // The key at the place may be gone by now.
      if (place.below !== undefined && compareBytes(key, place.key) === 0)
        while (slot >= 0 && index.modRevision(slot) >= place.below) slot = index.previous(slot);
      place.below = undefined;
      for (; slot >= 0; slot = index.previous(slot)) {
        const at = index.modRevision(slot);
        if (at > revision) continue; // not durable yet
        if (at <= compactRevision && index.isTombstone(slot)) return;
        if (into.length >= RECORDS_MAX) {
          rest = key;
          place.below = at + 1;
          return;
        }
        into.push(index.position(slot));
        if (at <= compactRevision) return;
      }
    });
    place.key = rest ?? next ?? EMPTY_BYTES;
    return rest !== undefined || next !== undefined;
  }

  async #readRecords(positions: readonly LogPosition[], read: { records: number; bytes: number }): Promise<void> {
    const { values } = this.#options.storage;
    const { signal } = this.#closing;
    try {
      const records = await values.getMany(positions, signal);
      read.records += records.length;
      read.bytes += recordBytes(records);
      return;
    } catch (error) {
      if (!(error instanceof StorageCorruptError)) throw error;
      if (positions.length === 1) {
        this.#damaged(error, { position: positions[0] });
        return;
      }
    }
    const half = positions.length >> 1;
    await this.#readRecords(positions.slice(0, half), read);
    await this.#readRecords(positions.slice(half), read);
  }

  #damaged(error: StorageCorruptError, where: object): void {
    this.#counts.damaged += 1;
    this.#options.logger.error({ ...where, err: error }, 'storage is damaged');
  }

  /** Counts, and waits as long as reading so much may take. */
  async #verified(records: number, bytes: number): Promise<void> {
    const { clock, bytesPerSecond } = this.#options;
    this.#counts.records += records;
    this.#counts.bytes += bytes;
    await sleep(clock, (bytes * 1000) / bytesPerSecond, this.#closing.signal);
  }
}

interface Place {
  key: Uint8Array;
  /** Of the key at the place, only versions below this revision are left. Undefined: all. */
  below: number | undefined;
}

const isOver = (error: unknown): boolean => error instanceof StorageClosedError || error instanceof StorageFailedError;

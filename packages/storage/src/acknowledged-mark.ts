import {
  assert,
  type Clock,
  type Epoch,
  epoch,
  type Logger,
  type LogPosition,
  logPosition,
  type Timer,
} from '@engram/core';
import { decodeNumbers, encodeNumbers } from './numbers.ts';

const LAG_MS = 100;
/** The length of the mark in its file. */
export const MARK_BYTES = 29;

export interface AcknowledgedState {
  /** Every record before this position was acknowledged. */
  readonly end: LogPosition;
  readonly sealed: Epoch;
  /** The id of the newest checkpoint; 0 before the first. */
  readonly checkpoint: number;
}

/** The open file of the mark. It is written in place, so a write that a crash cuts off leaves a damaged mark. */
export interface MarkFile {
  write(bytes: Uint8Array, offset: number): Promise<unknown>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface MarkParts {
  readonly name: string;
  /** The mark owns this file and closes it. */
  readonly file: MarkFile;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * A file beside an engine's own files that records what was acknowledged: the end of the log, the seal, the checkpoint.
 * Without it, an append that a crash tore cannot be distinguished from the last append of the log that was damaged
 * later. The former may be cut off, the latter may not, but LevelDB cuts off both without an error.
 *
 * The file is written at most 100 ms late, so that appends do not pay for it, and is not synced before `close`. It may
 * lag behind what is durable, and is never ahead of it.
 */
export class AcknowledgedMark {
  readonly #parts: MarkParts;
  #state: AcknowledgedState;
  #written: AcknowledgedState;
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(parts: MarkParts, state: AcknowledgedState) {
    this.#parts = parts;
    this.#state = state;
    this.#written = state;
  }

  /** Writes `state`, which is what the log says, at once. If that write fails, the file is closed. */
  static async open(parts: MarkParts, state: AcknowledgedState): Promise<AcknowledgedMark> {
    try {
      await parts.file.write(encode(parts.name, state), 0);
    } catch (error) {
      await parts.file.close();
      throw error;
    }
    return new AcknowledgedMark(parts, state);
  }

  /** Fields that are not given keep their values. */
  advance({ end, sealed, checkpoint }: Partial<AcknowledgedState>): void {
    const before = this.#state;
    const now = {
      end: end ?? before.end,
      sealed: sealed ?? before.sealed,
      checkpoint: checkpoint ?? before.checkpoint,
    };
    const forward = now.end >= before.end && now.sealed >= before.sealed && now.checkpoint >= before.checkpoint;
    assert(forward, 'what was acknowledged is taken back');
    this.#state = now;
    this.#timer ??= this.#parts.clock.after(LAG_MS, () => {
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#write());
    });
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#writing;
    await this.#write();
    try {
      await this.#parts.file.sync();
    } catch (error) {
      this.#complain(error);
    }
    await this.#parts.file.close();
  }

  // The log is complete without this file, so a failed write is only logged.
  async #write(): Promise<void> {
    const state = this.#state;
    if (state === this.#written) return;
    try {
      await this.#parts.file.write(encode(this.#parts.name, state), 0);
      this.#written = state;
    } catch (error) {
      this.#complain(error);
    }
  }

  #complain(error: unknown): void {
    this.#parts.logger.warn({ err: error }, `cannot write ${this.#parts.name}`);
  }
}

/** Decodes at least MARK_BYTES bytes of a mark's file. `damaged` if they are not a whole mark. */
export function decodeMark(name: string, bytes: Uint8Array): AcknowledgedState | 'damaged' {
  const [end, sealed, checkpoint] = decodeNumbers(name, bytes.subarray(0, MARK_BYTES), 3)?.numbers ?? [];
  if (end === undefined || sealed === undefined || checkpoint === undefined) return 'damaged';
  return { end: logPosition(end), sealed: epoch(sealed), checkpoint };
}

function encode(name: string, { end, sealed, checkpoint }: AcknowledgedState): Uint8Array {
  return encodeNumbers(name, [end, sealed, checkpoint]);
}

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
/** How many bytes of the file are the mark. */
export const MARK_BYTES = 29;

export interface AcknowledgedState {
  /** Every record before it was acknowledged. */
  readonly end: LogPosition;
  readonly sealed: Epoch;
  /** The id of the newest checkpoint; 0 before the first. */
  readonly checkpoint: number;
}

/** The file of the mark, open. It is written in place: a write that a crash cuts off leaves a mark that says nothing. */
export interface MarkFile {
  write(bytes: Uint8Array, offset: number): Promise<unknown>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface MarkParts {
  readonly name: string;
  /** The mark's from now on. */
  readonly file: MarkFile;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * A file beside an engine's own that says what was acknowledged: the end of the log, the seal, the checkpoint. Without it
 * an append that was torn by a crash, which may go, cannot be told from the last one of the log that was damaged later,
 * which may not: LevelDB cuts off both without an error.
 *
 * The file follows by at most 100 ms, so that it costs appends nothing, and is not synced before `close`: it may lag,
 * and is never ahead of what is durable.
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

  /** `state` is what the log says; it is written at once. When that rejects, the file is closed. */
  static async open(parts: MarkParts, state: AcknowledgedState): Promise<AcknowledgedMark> {
    try {
      await parts.file.write(encode(parts.name, state), 0);
    } catch (error) {
      await parts.file.close();
      throw error;
    }
    return new AcknowledgedMark(parts, state);
  }

  /** What is not named stays. */
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

  // Without this file the log is as good as with it: not being able to write it ends nothing.
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

/** What the bytes of a mark's file say, MARK_BYTES or more; `damaged` when they say nothing. */
export function decodeMark(name: string, bytes: Uint8Array): AcknowledgedState | 'damaged' {
  const [end, sealed, checkpoint] = decodeNumbers(name, bytes.subarray(0, MARK_BYTES), 3)?.numbers ?? [];
  if (end === undefined || sealed === undefined || checkpoint === undefined) return 'damaged';
  return { end: logPosition(end), sealed: epoch(sealed), checkpoint };
}

function encode(name: string, { end, sealed, checkpoint }: AcknowledgedState): Uint8Array {
  return encodeNumbers(name, [end, sealed, checkpoint]);
}

import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
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
import { ACKNOWLEDGED_FILE, FILE_MODE, openIfThere, readIfThere } from './files.ts';
import { decodeNumbers, encodeNumbers } from './numbers.ts';

const LAG_MS = 100;

export interface AcknowledgedState {
  /** Every record before it was acknowledged. */
  readonly end: LogPosition;
  readonly sealed: Epoch;
  /** The id of the newest checkpoint; 0 before the first. */
  readonly checkpoint: number;
}

/**
 * Says from outside LevelDB what was acknowledged: the end of the log, the seal, the checkpoint. When LevelDB recovers its log it cuts off what it cannot
 * read, and with it what comes behind in the same 32 KiB, without an error: an append that was torn by a crash looks
 * like one that was damaged later. With this file the second is told from the first.
 *
 * It follows by at most 100 ms, so that it costs appends nothing, and is not synced before `close`: it may lag,
 * but it is never ahead of what is durable.
 */
export class AcknowledgedMark {
  readonly #file: FileHandle;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #state: AcknowledgedState;
  #written: AcknowledgedState;
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle, state: AcknowledgedState, clock: Clock, logger: Logger) {
    this.#file = file;
    this.#clock = clock;
    this.#logger = logger;
    this.#state = state;
    this.#written = state;
  }

  /** `state` is what the log says; it is written at once. */
  static async open(path: string, state: AcknowledgedState, clock: Clock, logger: Logger): Promise<AcknowledgedMark> {
    const name = join(path, ACKNOWLEDGED_FILE);
    // In place, not replaced: a write that is cut off by a crash leaves a mark that says nothing, and harms nothing.
    const file = (await openIfThere(name, 'r+')) ?? (await open(name, 'w+', FILE_MODE));
    try {
      await file.write(encode(state), 0, undefined, 0);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new AcknowledgedMark(file, state, clock, logger);
  }

  /** What is not named stays. */
  advance({ end, sealed, checkpoint }: Partial<AcknowledgedState>): void {
    const before = this.#state;
    this.#state = {
      end: end ?? before.end,
      sealed: sealed ?? before.sealed,
      checkpoint: checkpoint ?? before.checkpoint,
    };
    const now = this.#state;
    const forward = now.end >= before.end && now.sealed >= before.sealed && now.checkpoint >= before.checkpoint;
    assert(forward, 'what was acknowledged is taken back');
    this.#timer ??= this.#clock.after(LAG_MS, () => {
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#write());
    });
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#writing;
    await this.#write();
    try {
      await this.#file.datasync();
    } catch (error) {
      this.#complain(error);
    }
    await this.#file.close();
  }

  // Without this file the log is as good as with it: not being able to write it ends nothing.
  async #write(): Promise<void> {
    const state = this.#state;
    if (state === this.#written) return;
    try {
      await this.#file.write(encode(state), 0, undefined, 0);
      this.#written = state;
    } catch (error) {
      this.#complain(error);
    }
  }

  #complain(error: unknown): void {
    this.#logger.warn({ err: error }, `cannot write ${ACKNOWLEDGED_FILE}`);
  }
}

/** Undefined when there is none. `damaged` when it says nothing. */
export async function readAcknowledged(path: string): Promise<AcknowledgedState | 'damaged' | undefined> {
  const bytes = await readIfThere(join(path, ACKNOWLEDGED_FILE));
  if (bytes === undefined) return undefined;
  const [end, sealed, checkpoint] = decodeNumbers(ACKNOWLEDGED_FILE, bytes) ?? [];
  if (end === undefined || sealed === undefined || checkpoint === undefined) return 'damaged';
  return { end: logPosition(end), sealed: epoch(sealed), checkpoint };
}

function encode(state: AcknowledgedState): Uint8Array {
  return encodeNumbers(ACKNOWLEDGED_FILE, [state.end, state.sealed, state.checkpoint]);
}

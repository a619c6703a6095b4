import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Epoch, Logger, LogPosition, Timer } from '@engram/core';
import { assert, epoch, logPosition } from '@engram/core';
import { decodeNumbers, encodeNumbers } from './layout.ts';

/** Beside LevelDB's files, which it leaves alone because it does not know the name. */
export const ACKNOWLEDGED_FILE = 'ACKNOWLEDGED';
const FILE_KEY = Uint8Array.from(Buffer.from(ACKNOWLEDGED_FILE));
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
    const file = await openOrCreate(join(path, ACKNOWLEDGED_FILE));
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
  let file: FileHandle;
  try {
    file = await open(join(path, ACKNOWLEDGED_FILE), 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const [end, sealed, checkpoint] = decodeNumbers(FILE_KEY, await file.readFile()) ?? [];
    if (end === undefined || sealed === undefined || checkpoint === undefined) return 'damaged';
    return { end: logPosition(end), sealed: epoch(sealed), checkpoint };
  } finally {
    await file.close();
  }
}

function encode(state: AcknowledgedState): Uint8Array {
  return encodeNumbers(FILE_KEY, [state.end, state.sealed, state.checkpoint]);
}

async function openOrCreate(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return await open(path, 'w+', 0o600);
    throw error;
  }
}

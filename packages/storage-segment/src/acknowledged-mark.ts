import type { Clock, Epoch, LogPosition, Timer } from '@engram/core';
import { assert, epoch, logPosition } from '@engram/core';
import type { Condition } from './condition.ts';
import { errorCode } from './condition.ts';
import { ACKNOWLEDGED_FILE } from './file-names.ts';
import type { FileSystem, StorageFile } from './file-system.ts';
import { decodeNumbers, encodeNumbers } from './numbers.ts';

const NAME = Uint8Array.from(Buffer.from(ACKNOWLEDGED_FILE));
const FILE_BYTES = 29;
const LAG_MS = 100;

export interface AcknowledgedState {
  /** Every record before it was acknowledged. */
  readonly end: LogPosition;
  readonly sealed: Epoch;
  /** The id of the newest checkpoint; 0 before the first. */
  readonly checkpoint: number;
}

/**
 * Says beside the segments what was acknowledged: the end of the log, the seal, the checkpoint. An append that was torn
 * by a crash looks like the last one that was damaged later, and LevelDB cuts off without a word what it cannot read at
 * the end of its own log; with this file the second is told from the first.
 *
 * It follows by at most 100 ms, so that it costs appends nothing, and is not synced before `close`: it may lag,
 * but it is never ahead of what is durable.
 */
export class AcknowledgedMark {
  readonly #file: StorageFile;
  readonly #clock: Clock;
  readonly #condition: Condition;
  #state: AcknowledgedState;
  #written: AcknowledgedState;
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(file: StorageFile, state: AcknowledgedState, clock: Clock, condition: Condition) {
    this.#file = file;
    this.#clock = clock;
    this.#condition = condition;
    this.#state = state;
    this.#written = state;
  }

  /** `state` is what the log says; it is written at once. */
  static async open(
    fileSystem: FileSystem,
    state: AcknowledgedState,
    clock: Clock,
    condition: Condition,
  ): Promise<AcknowledgedMark> {
    const file = await openOrCreate(fileSystem, markPath(condition.path));
    try {
      await file.write(encode(state), 0);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new AcknowledgedMark(file, state, clock, condition);
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
      await this.#file.sync();
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
      await this.#file.write(encode(state), 0);
      this.#written = state;
    } catch (error) {
      this.#complain(error);
    }
  }

  #complain(error: unknown): void {
    this.#condition.logger.warn({ err: error }, `cannot write ${ACKNOWLEDGED_FILE}`);
  }
}

/** Undefined when there is none. `damaged` when it says nothing. */
export async function readAcknowledged(
  fileSystem: FileSystem,
  path: string,
): Promise<AcknowledgedState | 'damaged' | undefined> {
  let file: StorageFile;
  try {
    file = await fileSystem.open(markPath(path), 'read');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const bytes = new Uint8Array(FILE_BYTES);
    const read = await file.read(bytes, 0);
    const [end, sealed, checkpoint] = decodeNumbers(NAME, bytes.subarray(0, read), 3)?.numbers ?? [];
    if (end === undefined || sealed === undefined || checkpoint === undefined) return 'damaged';
    return { end: logPosition(end), sealed: epoch(sealed), checkpoint };
  } finally {
    await file.close();
  }
}

function encode(state: AcknowledgedState): Uint8Array {
  return encodeNumbers(NAME, [state.end, state.sealed, state.checkpoint]);
}

function markPath(path: string): string {
  return `${path}/${ACKNOWLEDGED_FILE}`;
}

async function openOrCreate(fileSystem: FileSystem, path: string): Promise<StorageFile> {
  try {
    return await fileSystem.open(path, 'update');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return await fileSystem.open(path, 'create');
    throw error;
  }
}

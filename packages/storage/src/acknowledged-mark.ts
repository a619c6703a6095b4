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
/** How long a mark waits for its sync. */
const SYNC_MS = 1000;
const MARK_BYTES = 29;
/** The distance of the two marks in the file: a page, so that no loss of power tears both. */
const PLACE_BYTES = 4096;
const PLACES = [0, PLACE_BYTES] as const;
/** The length of the file with both marks. A file of an earlier program has only the first. */
export const MARK_FILE_BYTES = PLACE_BYTES + MARK_BYTES;

export interface AcknowledgedState {
  /** Every record before this position was acknowledged. */
  readonly end: LogPosition;
  readonly sealed: Epoch;
  /** The id of the newest checkpoint; 0 before the first. */
  readonly checkpoint: number;
}

/** The open file of the marks. */
export interface MarkFile {
  /** Fills `target`, with fewer bytes only at the file's end. Returns their number. */
  read(target: Uint8Array, offset: number): Promise<number>;
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
 * The file has two marks. One is on the disk and is not written; the other is written at most 100 ms late, so that
 * appends do not pay for it, and synced after a second. Then they change places. So a loss of power leaves at least the
 * one, and a killed process the other. A mark may lag behind what is durable, and is never ahead of it.
 */
export class AcknowledgedMark {
  readonly #parts: MarkParts;
  #state: AcknowledgedState;
  /** What the marks say; undefined if it is unknown. */
  readonly #marks: [AcknowledgedState | undefined, AcknowledgedState | undefined];
  /** The mark that may be written. The other one is on the disk. */
  #place: 0 | 1 = 1;
  #unsynced = false;
  #timer: Timer | undefined;
  #syncTimer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(parts: MarkParts, state: AcknowledgedState) {
    this.#parts = parts;
    this.#state = state;
    this.#marks = [state, state];
  }

  /**
   * Makes `state`, which is what the log says, durable in both marks, one after the other: first over one that is not
   * whole. If that fails, the file is closed.
   */
  static async open(parts: MarkParts, state: AcknowledgedState): Promise<AcknowledgedMark> {
    const { name, file } = parts;
    try {
      const bytes = new Uint8Array(MARK_FILE_BYTES);
      const read = await file.read(bytes, 0);
      const kept = decodeAt(name, bytes.subarray(0, read), PLACES[0]) === undefined ? PLACES[1] : PLACES[0];
      // A process that was killed may have left a mark that the disk does not have yet.
      await file.sync();
      for (const offset of [...PLACES.filter((place) => place !== kept), kept]) {
        await file.write(encode(name, state), offset);
        await file.sync();
      }
    } catch (error) {
      await file.close();
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

  /** Leaves both marks up to date. */
  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#writing;
    for (const _ of PLACES) {
      await this.#write();
      await this.#sync();
    }
    this.#syncTimer?.cancel();
    await this.#parts.file.close();
  }

  // The log is complete without this file, so a failure is only logged.
  async #write(): Promise<void> {
    const [state, place] = [this.#state, this.#place];
    if (state === this.#marks[place]) return;
    try {
      await this.#parts.file.write(encode(this.#parts.name, state), PLACES[place]);
      this.#marks[place] = state;
      this.#unsynced = true;
    } catch (error) {
      // A part of it may be written. The other mark stays as it is until this one is whole and on the disk.
      this.#marks[place] = undefined;
      this.#unsynced = false;
      this.#complain(error);
    }
    this.#syncTimer ??= this.#parts.clock.after(SYNC_MS, () => {
      this.#syncTimer = undefined;
      this.#writing = this.#writing.then(() => this.#sync());
    });
  }

  async #sync(): Promise<void> {
    if (!this.#unsynced) return;
    this.#unsynced = false;
    try {
      await this.#parts.file.sync();
      this.#place = this.#place === 0 ? 1 : 0;
    } catch (error) {
      // The bytes may be lost although a later sync succeeds: they are written again before it.
      this.#marks[this.#place] = undefined;
      this.#complain(error);
    }
  }

  #complain(error: unknown): void {
    this.#parts.logger.warn({ err: error }, `cannot write ${this.#parts.name}`);
  }
}

/**
 * Decodes the file of the marks: the newer one of those that are whole. Undefined if nothing was ever written to it,
 * `damaged` if none is whole.
 */
export function decodeMarks(name: string, bytes: Uint8Array): AcknowledgedState | 'damaged' | undefined {
  let newest: AcknowledgedState | undefined;
  for (const offset of PLACES) {
    const mark = decodeAt(name, bytes, offset);
    if (mark === undefined) continue;
    // Each of them was true, and none of the numbers ever decreases.
    newest = {
      end: logPosition(Math.max(mark.end, newest?.end ?? 0)),
      sealed: epoch(Math.max(mark.sealed, newest?.sealed ?? 0)),
      checkpoint: Math.max(mark.checkpoint, newest?.checkpoint ?? 0),
    };
  }
  return newest ?? (bytes.some((byte) => byte !== 0) ? 'damaged' : undefined);
}

function decodeAt(name: string, bytes: Uint8Array, offset: number): AcknowledgedState | undefined {
  const [end, sealed, checkpoint] = decodeNumbers(name, bytes.subarray(offset, offset + MARK_BYTES), 3)?.numbers ?? [];
  if (end === undefined || sealed === undefined || checkpoint === undefined) return undefined;
  return { end: logPosition(end), sealed: epoch(sealed), checkpoint };
}

function encode(name: string, { end, sealed, checkpoint }: AcknowledgedState): Uint8Array {
  return encodeNumbers(name, [end, sealed, checkpoint]);
}

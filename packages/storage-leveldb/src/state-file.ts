import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { epoch, joinU64, type LogPosition, logPosition, Mutex, NEW_LOG_SEAL, type Seal, splitU64 } from '@engram/core';
import { decodeNumberList, encodeNumberList, StorageCorruptError, StorageOpenError } from '@engram/storage';
import { FILE_MODE, NEW_STATE_FILE, readIfThere, STATE_FILE, syncDirectory } from './files.ts';

/** State that changes rarely, and not in the order of the log. */
export interface State {
  readonly sealed: Seal;
  /** The valid checkpoint. Id 0 means that there is none. Checkpoint files with any other id are leftovers. */
  readonly checkpoint: {
    readonly id: number;
    /** Replay begins here. */
    readonly from: LogPosition;
    readonly chunks: number;
    /** The sum of the lengths of the chunks. */
    readonly bytes: number;
  };
  /** The number and bytes of live records when the log ended before `upTo`. Both are estimates. */
  readonly usage: { readonly upTo: LogPosition; readonly records: number; readonly bytes: number };
}

/** Format 1 did not record who holds the seal. */
const FORMAT_VERSION = 2;

const NEW_STATE: State = {
  sealed: NEW_LOG_SEAL,
  checkpoint: { id: 0, from: logPosition(1), chunks: 0, bytes: 0 },
  usage: { upTo: logPosition(1), records: 0, bytes: 0 },
};

/** The state in one small file, which each update replaces as a whole. At any time the old or the new file exists. */
export class StateFile {
  readonly #path: string;
  #state: State;
  readonly #mutex = new Mutex();

  private constructor(path: string, state: State) {
    this.#path = path;
    this.#state = state;
  }

  /** Undefined if the file is missing. Throws StorageCorruptError and StorageOpenError. */
  static async read(path: string): Promise<StateFile | undefined> {
    const bytes = await readIfThere(join(path, STATE_FILE));
    return bytes === undefined ? undefined : new StateFile(path, decode(bytes, path));
  }

  static async create(path: string): Promise<StateFile> {
    const file = new StateFile(path, NEW_STATE);
    await file.update({});
    return file;
  }

  get state(): State {
    return this.#state;
  }

  /** When it resolves, the change is durable. If it rejects, `state` is the old one, and either one may be on disk. */
  update(change: Partial<State>): Promise<void> {
    return this.#mutex.run(async () => {
      const state = { ...this.#state, ...change };
      await this.#replace(encode(state));
      this.#state = state;
    });
  }

  async #replace(bytes: Uint8Array): Promise<void> {
    const path = join(this.#path, NEW_STATE_FILE);
    {
      await using file = await open(path, 'w', FILE_MODE);
      await file.writeFile(bytes);
      await file.datasync();
    }
    await rename(path, join(this.#path, STATE_FILE));
    await syncDirectory(this.#path);
  }
}

function encode({ sealed, checkpoint, usage }: State): Uint8Array {
  const { id, from, chunks, bytes } = checkpoint;
  const numbers = [sealed.epoch, id, from, chunks, bytes, usage.upTo, usage.records, usage.bytes];
  return encodeNumberList(STATE_FILE, [FORMAT_VERSION, ...numbers, ...splitU64(sealed.holder)]);
}

function decode(bytes: Uint8Array, path: string): State {
  const [format, sealed, id, from, chunks, size, upTo, records, used, ...holder] =
    decodeNumberList(STATE_FILE, bytes) ?? [];
  if (format !== undefined && format > FORMAT_VERSION) {
    const known = `${FORMAT_VERSION} is the newest that this program knows`;
    throw new StorageOpenError('newer-format', `the storage at ${path} has format ${format}, and ${known}`);
  }
  if (sealed === undefined || id === undefined || from === undefined || chunks === undefined || size === undefined) {
    throw new StorageCorruptError(`the file ${STATE_FILE} is damaged`, path);
  }
  if (upTo === undefined || records === undefined || used === undefined) {
    throw new StorageCorruptError(`the file ${STATE_FILE} is too short`, path);
  }
  if (format === FORMAT_VERSION && holder.length !== 2) {
    throw new StorageCorruptError(`the file ${STATE_FILE} does not name the seal's holder`, path);
  }
  return {
    sealed: { epoch: epoch(sealed), holder: joinU64(holder[0] ?? 0, holder[1] ?? 0) },
    checkpoint: { id, from: logPosition(from), chunks, bytes: size },
    usage: { upTo: logPosition(upTo), records, bytes: used },
  };
}

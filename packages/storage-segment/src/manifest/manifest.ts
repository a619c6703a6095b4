import {
  assert,
  epoch,
  joinU64,
  type LogPosition,
  logPosition,
  Mutex,
  NEW_LOG_SEAL,
  type Seal,
  splitU64,
} from '@engram/core';
import { decodeNumbers, encodeNumbers, type Numbers, StorageOpenError } from '@engram/storage';
import type { Condition } from '../disk/condition.ts';
import { DeadRecords } from '../format/dead-records.ts';
import type { SegmentKind } from '../format/layout.ts';
import type { Meta, MetaWrite } from './meta.ts';

// The keys of the database beside the segments:
//
// - 'a': the format of all this
// - 'b': where the log begins, if not at 1
// - 'c': the checkpoint that counts: id, from, chunks, bytes
// - 'd' id (u64): which records of a segment were dropped: count, bytes, one bit for each record
// - 'g' id (u64): a segment: its kind, its first position, the position after its last, its records and bytes. All but
//   the kind are zeros until the segment is sealed
// - 's': the seal: its epoch, and the upper and lower half of its holder, which format 1 did not record
// - 'x' id (u64): a removed segment whose files are being deleted
const FORMAT_KEY = key('a');
const BEGIN_KEY = key('b');
const CHECKPOINT_KEY = key('c');
const SEAL_KEY = key('s');

/** The manifest's format. A directory of format 1 gets it at its next seal. */
/** Of a storage whose segments have no wall-clock marks, and of one whose segments may have them. */
const UNMARKED_VERSION = 2;
const FORMAT_VERSION = 3;

/** A segment as the manifest knows it. `sealed` is undefined while it may be appended to. */
export interface SegmentNote {
  readonly id: number;
  readonly kind: SegmentKind;
  readonly sealed: SealedNote | undefined;
}

export interface SealedNote {
  readonly first: number;
  /** The position after the last record. */
  readonly next: number;
  readonly records: number;
  readonly bytes: number;
}

/** The checkpoint that counts. */
export interface CheckpointNote {
  readonly id: number;
  readonly from: LogPosition;
  readonly chunks: number;
  /** The total length of the chunks. */
  readonly bytes: number;
}

export interface ManifestState {
  /** The position at which the log begins. */
  readonly begin: LogPosition;
  readonly sealed: Seal;
  readonly checkpoint: CheckpointNote | undefined;
  readonly segments: readonly SegmentNote[];
  readonly dead: ReadonlyMap<number, DeadRecords>;
  readonly removing: readonly number[];
}

/**
 * Says which files count. Every change is one atomic, durable write. Changes are made one at a time. Each is built in
 * its own turn, so it sees the effects of the change before it.
 */
export class Manifest {
  readonly #meta: Meta;
  readonly #condition: Condition;
  readonly #mutex = new Mutex();
  /** As it is written. Never lowered: a program that does not know the format would take a segment for damage. */
  #format: number;

  /** `marked`: segments with wall-clock marks may be made. */
  constructor(meta: Meta, condition: Condition, marked: boolean) {
    this.#meta = meta;
    this.#condition = condition;
    this.#format = marked ? FORMAT_VERSION : UNMARKED_VERSION;
  }

  /**
   * `ours` says that a storage exists, so that an empty manifest is damage. A new manifest gets the format and `first`,
   * where its log begins.
   */
  async load(ours: boolean, first: LogPosition): Promise<ManifestState> {
    const entries = await this.#meta.entries();
    await this.#checkFormat(entries, ours, first);
    let begin = entries.length === 0 ? first : logPosition(1);
    let sealed = NEW_LOG_SEAL;
    let checkpoint: CheckpointNote | undefined;
    const segments: SegmentNote[] = [];
    const dead = new Map<number, DeadRecords>();
    const removing: number[] = [];
    for (const [name, value] of entries) {
      switch (String.fromCharCode(name[0] ?? 0)) {
        case 'a':
          break;
        case 'b':
          begin = logPosition(this.#decode(name, value, 1).numbers[0]!);
          break;
        case 'c':
          checkpoint = this.#decodeCheckpoint(name, value);
          break;
        case 'd': {
          const { numbers, rest } = this.#decode(name, value, 2);
          dead.set(this.#id(name), new DeadRecords(rest.slice(), numbers[0]!, numbers[1]!));
          break;
        }
        case 'g':
          segments.push(this.#decodeSegment(name, value));
          break;
        case 's':
          sealed = this.#decodeSeal(name, value);
          break;
        case 'x':
          this.#decode(name, value, 0);
          removing.push(this.#id(name));
          break;
        default:
          throw this.#condition.corrupt(`the manifest has an entry that is none of its own`);
      }
    }
    return { begin, sealed, checkpoint, segments, dead, removing };
  }

  /**
   * Calls `build` in its turn and writes what it returns; `then` runs before the next change. Rejects with
   * StorageFailedError if the write fails. If `build` throws, nothing has changed, and its error is the rejection.
   */
  change(build: () => readonly MetaWrite[], then: () => void = () => {}): Promise<void> {
    return this.#mutex.run(async () => {
      this.#condition.check();
      const writes = build();
      if (writes.length > 0) await this.#write(writes);
      then();
    });
  }

  /** Of a takeover. The format as well, because an older one did not record the holder. */
  sealWrites({ epoch, holder }: Seal): MetaWrite[] {
    return [put(FORMAT_KEY, [this.#format]), put(SEAL_KEY, [epoch, ...splitU64(holder)])];
  }

  async close(): Promise<void> {
    await this.#mutex.idle();
    await this.#meta.close();
  }

  async #write(writes: readonly MetaWrite[]): Promise<void> {
    try {
      await this.#meta.write(writes);
    } catch (cause) {
      throw this.#condition.fail(cause, 'a write to the manifest');
    }
  }

  async #checkFormat(
    entries: readonly (readonly [Uint8Array, Uint8Array])[],
    ours: boolean,
    first: LogPosition,
  ): Promise<void> {
    const { path } = this.#condition;
    const [entry] = entries;
    if (entry === undefined) {
      if (ours) throw this.#condition.corrupt('the manifest is empty');
      const begin = first > 1 ? [put(BEGIN_KEY, [first])] : [];
      await this.change(() => [put(FORMAT_KEY, [this.#format]), ...begin]);
      return;
    }
    const [name, value] = entry;
    if (name.length !== 1 || name[0] !== FORMAT_KEY[0]) {
      if (ours) throw this.#condition.corrupt('the format version is missing');
      throw new StorageOpenError('not-ours', `${path} holds a LevelDB database of something else`);
    }
    const format = this.#decode(name, value, 1).numbers[0]!;
    if (format <= FORMAT_VERSION) {
      // Before the first segment with marks is made.
      if (format < this.#format && this.#format === FORMAT_VERSION)
        await this.change(() => [put(FORMAT_KEY, [FORMAT_VERSION])]);
      else this.#format = Math.max(format, this.#format);
      return;
    }
    const known = `${FORMAT_VERSION} is the newest that this program knows`;
    throw new StorageOpenError('newer-format', `the storage at ${path} has format ${format}, and ${known}`);
  }

  #decodeSeal(name: Uint8Array, value: Uint8Array): Seal {
    const [sealed, ...holder] = (decodeNumbers(name, value, 1) ?? this.#decode(name, value, 3)).numbers;
    return { epoch: epoch(sealed!), holder: joinU64(holder[0] ?? 0, holder[1] ?? 0) };
  }

  #decodeCheckpoint(name: Uint8Array, value: Uint8Array): CheckpointNote {
    const [id, from, chunks, bytes] = this.#decode(name, value, 4).numbers;
    return { id: id!, from: logPosition(from!), chunks: chunks!, bytes: bytes! };
  }

  #decodeSegment(name: Uint8Array, value: Uint8Array): SegmentNote {
    const [kind, first, next, records, bytes] = this.#decode(name, value, 5).numbers;
    const sealed = records === 0 ? undefined : { first: first!, next: next!, records: records!, bytes: bytes! };
    return { id: this.#id(name), kind: kind === 0 ? 'appended' : 'cleaned', sealed };
  }

  #decode(name: Uint8Array, value: Uint8Array, count: number): Numbers {
    const decoded = decodeNumbers(name, value, count);
    if (decoded === undefined) {
      throw this.#condition.corrupt(`the entry ${Buffer.from(name).toString('hex')} of the manifest is damaged`);
    }
    return decoded;
  }

  #id(name: Uint8Array): number {
    const id = name.length === 9 ? Number(Buffer.from(name).readBigUInt64BE(1)) : Number.NaN;
    if (!Number.isSafeInteger(id)) throw this.#condition.corrupt('a key of the manifest is damaged');
    return id;
  }
}

export function checkpointWrite({ id, from, chunks, bytes }: CheckpointNote): MetaWrite {
  return put(CHECKPOINT_KEY, [id, from, chunks, bytes]);
}

export function segmentWrite({ id, kind, sealed }: SegmentNote): MetaWrite {
  assert(sealed === undefined || sealed.records > 0, 'a sealed segment without records');
  const { first, next, records, bytes } = sealed ?? { first: 0, next: 0, records: 0, bytes: 0 };
  return put(key('g', id), [kind === 'appended' ? 0 : 1, first, next, records, bytes]);
}

export function deadWrite(id: number, dead: DeadRecords): MetaWrite {
  return put(key('d', id), [dead.count, dead.bytes], dead.bits);
}

/** Removes a segment. Its files are deleted once this is durable. */
export function removalWrites(id: number): MetaWrite[] {
  return [{ key: key('g', id), value: undefined }, { key: key('d', id), value: undefined }, put(key('x', id), [])];
}

/** Notes that the files of a removed segment are durably gone. */
export function removedWrite(id: number): MetaWrite {
  return { key: key('x', id), value: undefined };
}

function put(name: Uint8Array, numbers: readonly number[], rest?: Uint8Array): MetaWrite {
  return { key: name, value: encodeNumbers(name, numbers, rest) };
}

function key(letter: string, id?: number): Uint8Array {
  const bytes = new Uint8Array(id === undefined ? 1 : 9);
  bytes[0] = letter.charCodeAt(0);
  if (id !== undefined) new DataView(bytes.buffer).setBigUint64(1, BigInt(id));
  return bytes;
}

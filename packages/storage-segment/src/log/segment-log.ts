import { assert, type LogPosition, logPosition, Mutex, type Seal, sameSeal } from '@engram/core';
import {
  type AcknowledgedMark,
  type AppendOutcome,
  isFenced,
  type Log,
  type LogBatch,
  type StorageCorruptError,
  StorageFailedError,
  sameBatch,
  takesOver,
  endOf,
} from '@engram/storage';
import type { Condition } from '../disk/condition.ts';
import { fileName } from '../disk/file-names.ts';
import { type Frame, FrameReader, isFrame, visitRecords } from '../format/frame-reader.ts';
import type { LogTail } from './log-tail.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { Segment } from '../segments/segment.ts';
import type { SegmentList } from '../segments/segment-list.ts';

const never = new AbortController().signal;

export interface SegmentLogParts {
  readonly condition: Condition;
  readonly manifest: Manifest;
  readonly segments: SegmentList;
  readonly tail: LogTail;
  readonly acknowledged: AcknowledgedMark;
}

export class SegmentLog implements Log {
  readonly #parts: SegmentLogParts;
  #sealed: Seal;
  /** The seal of the last append; undefined before the first one since opening. */
  #lastSeal: Seal | undefined;
  #appending = false;
  /** Appends and seals take turns. */
  readonly #mutex = new Mutex();

  constructor(parts: SegmentLogParts, sealed: Seal) {
    this.#parts = parts;
    this.#sealed = sealed;
  }

  append(batch: LogBatch, seal: Seal): Promise<AppendOutcome> {
    return this.#parts.condition.lifetime.run(async () => {
      assert(!this.#appending, 'two appends at a time');
      assert(batch.records.length > 0, 'an empty batch');
      this.#appending = true;
      try {
        return await this.#mutex.run(() => this.#append(batch, seal));
      } finally {
        this.#appending = false;
      }
    });
  }

  read(from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch> {
    const { condition, tail } = this.#parts;
    condition.lifetime.check();
    condition.check();
    assert(from >= 1, 'the log begins at position 1');
    return this.#read(from, tail.next, signal);
  }

  seal(seal: Seal): Promise<LogPosition> {
    const { condition, manifest, tail, acknowledged } = this.#parts;
    return condition.lifetime.run(() =>
      this.#mutex.run(async () => {
        condition.check();
        if (takesOver(this.#sealed, seal, 'the log')) {
          await manifest.change(() => manifest.sealWrites(seal));
          this.#lastSeal ??= this.#sealed;
          this.#sealed = seal;
          acknowledged.advance({ sealed: seal.epoch });
        }
        return tail.next;
      }),
    );
  }

  heldBy(seal: Seal, signal: AbortSignal): Promise<boolean> {
    const { condition } = this.#parts;
    return condition.lifetime.run(async () => {
      signal.throwIfAborted();
      condition.check();
      return sameSeal(this.#sealed, seal);
    });
  }

  /** The next append begins a new segment. Resolves when the segment before it is sealed, or could not be. */
  async roll(): Promise<void> {
    const { condition, tail } = this.#parts;
    await tail.prepared();
    await this.#mutex.run(async () => {
      condition.check();
      await tail.roll();
    });
    await tail.sealed();
  }

  async #append(batch: LogBatch, seal: Seal): Promise<AppendOutcome> {
    const { condition, tail, acknowledged } = this.#parts;
    condition.check();
    const fenced = isFenced(this.#sealed, seal);
    if (await this.#endsLog(batch, seal)) return { kind: 'committed' };
    if (fenced) return { kind: 'fenced' };
    assert(batch.first === tail.next, 'a batch that does not begin at the end of the log');
    try {
      await tail.append(batch);
    } catch (cause) {
      return {
        kind: 'uncertain',
        cause: cause instanceof StorageFailedError ? cause : condition.fail(cause, 'an append'),
      };
    }
    this.#lastSeal = seal;
    acknowledged.advance({ end: tail.next });
    return { kind: 'committed' };
  }

  /** Whether the last append was this batch with this seal. */
  async #endsLog(batch: LogBatch, seal: Seal): Promise<boolean> {
    const end = this.#parts.tail.next;
    if (endOf(batch) !== end || batch.first < 1) return false;
    if (!sameSeal(this.#lastSeal ?? this.#sealed, seal)) return false;
    for await (const last of this.#read(batch.first, end, never)) return sameBatch(last, batch);
    return false;
  }

  async *#read(from: LogPosition, end: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    const { condition, segments } = this.#parts;
    signal.throwIfAborted();
    if (from > end) throw condition.corrupt(`the log ends before ${end}, and ${from} is asked for`);
    let position: number = from;
    // Records of a batch that the cleaner has split.
    let records: Uint8Array[] = [];
    while (position < end) {
      signal.throwIfAborted();
      condition.lifetime.check();
      const segment = segments.find(position);
      const index = segment?.table.indexOf(position) ?? -1;
      if (segment === undefined || index < 0) throw condition.corrupt(`record ${position} is missing`);
      segment.pin();
      try {
        for await (const frame of this.#frames(segment, position, index)) {
          const damaged = visitRecords(
            frame,
            (_, start, stop) => void records.push(frame.bytes.subarray(start, stop)),
            position,
          );
          if (damaged !== undefined) throw this.#damage(segment, damaged);
          position = frame.header.first + frame.header.records;
          if (frame.header.following > 0) continue;
          const first = logPosition(position - records.length);
          const { wallMs = 0 } = frame.header;
          const batch = wallMs === 0 ? { first, records } : { first, records, wallMs };
          records = [];
          signal.throwIfAborted();
          condition.lifetime.check();
          yield batch;
          signal.throwIfAborted();
          if (position >= end) return;
        }
      } finally {
        segment.unpin();
      }
    }
    if (records.length > 0) throw condition.corrupt(`record ${position} is missing`);
  }

  /** The frames from the one with this record on, up to the end of the segment or the first gap. */
  async *#frames(segment: Segment, from: number, index: number): AsyncGenerator<Frame> {
    const { condition } = this.#parts;
    const { table, file, header } = segment;
    const name = fileName('seg', header.id);
    const end = table.end;
    const reader = new FrameReader(file, header, end);
    let offset = table.offsetAt(table.frameStart(index)) - table.frameHeaderBytes;
    let next = from;
    while (offset < end) {
      const found = await condition.lifetime.run(() => condition.reading(name, () => reader.frameAt(offset)));
      if (!isFrame(found)) throw this.#damage(segment, next);
      const { first, records } = found.header;
      const expected = next === from ? first <= from && from < first + records : first >= next;
      if (!expected) throw this.#damage(segment, next);
      if (first > next) return;
      next = first + records;
      offset = found.end;
      yield found;
    }
  }

  #damage(segment: Segment, position: number): StorageCorruptError {
    const { table } = segment;
    const name = fileName('seg', segment.id);
    const at = table.offsetAt(Math.min(table.lowerBound(position), table.count - 1));
    return this.#parts.condition.corrupt(`record ${position} is damaged: segment ${name} at ${at}`);
  }
}

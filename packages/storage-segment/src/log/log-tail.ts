import type { Clock, LogPosition } from '@engram/core';
import type { Loop, Task } from '@engram/loop';
import { type LogBatch, endOf, type WallMarks } from '@engram/storage';
import type { Condition } from '../disk/condition.ts';
import { fileName, filePath } from '../disk/file-names.ts';
import type { FileSystem } from '../disk/file-system.ts';
import { FrameBuffer, payloadBytes } from '../format/frame-buffer.ts';
import { InlineWrites } from './inline-writes.ts';
import { MARKED_FRAME_HEADER_BYTES, SEGMENT_HEADER_BYTES } from '../format/layout.ts';
import { type Manifest, segmentWrite } from '../manifest/manifest.ts';
import { Preallocation, reserveBytesMin } from '../disk/preallocation.ts';
import { shorten } from '../disk/shorten.ts';
import type { Segment } from '../segments/segment.ts';
import type { SegmentList } from '../segments/segment-list.ts';
import type { SegmentMaker } from '../segments/segment-maker.ts';
import { writeSidecar } from '../segments/sidecar.ts';

/** While the next segment is not ready, the last one may grow to this many times its size. */
const OVERFULL = 2;
const PREPARE_AGAIN_MS = 1000;

const APPEND: Task = { work: 'durable', caller: 'log', stage: 'append' };

export interface LogTailParts {
  readonly fileSystem: FileSystem;
  readonly condition: Condition;
  readonly manifest: Manifest;
  readonly segments: SegmentList;
  readonly maker: SegmentMaker;
  readonly clock: Clock;
  readonly loop: Loop;
  /** For batches that are written to a segment with marks. */
  readonly marks: WallMarks;
  readonly segmentBytes: number;
  /** Whether zeros are written ahead of appends. */
  readonly reserves: boolean;
  /** How long the process has been idle since it began. */
  readonly idleMs: () => number;
  /** Called when a segment was sealed. */
  readonly onSealed: () => void;
}

/**
 * The end of the log: the segment that is appended to, the next one, which is prepared in advance, and earlier segments
 * until they are sealed. One append at a time.
 */
export class LogTail {
  readonly #parts: LogTailParts;
  readonly #buffer = new FrameBuffer();
  readonly #inline: InlineWrites;
  #active: Segment;
  #preallocation: Preallocation;
  #ready: Segment[];
  #preparing: Promise<void> | undefined;
  #prepareError: unknown;
  #prepareFromMs = Number.NEGATIVE_INFINITY;
  #sealing: Promise<void> = Promise.resolve();
  #next: LogPosition;
  #closed = false;

  private constructor(
    parts: LogTailParts,
    active: Segment,
    ready: Segment[],
    preallocation: Preallocation,
    next: LogPosition,
  ) {
    this.#parts = parts;
    this.#inline = new InlineWrites(parts.idleMs);
    this.#active = active;
    this.#ready = ready;
    this.#preallocation = preallocation;
    this.#next = next;
  }

  /**
   * `open` are the segments that are not sealed, in order. Appends go to the last one with records, or else to the
   * first.
   */
  static async open(parts: LogTailParts, open: readonly Segment[], next: LogPosition): Promise<LogTail> {
    const { maker } = parts;
    const segments =
      open.length > 0 ? open : [await maker.make(parts.reserves ? reserveBytesMin(parts.segmentBytes) : 0)];
    const at = Math.max(
      0,
      segments.findLastIndex((segment) => segment.table.count > 0),
    );
    const active = segments[at]!;
    const preallocation = await reserveBehind(parts, active, reserveBytesMin(parts.segmentBytes));
    const tail = new LogTail(parts, active, segments.slice(at + 1), preallocation, next);
    for (const segment of segments.slice(0, at)) tail.#seal(segment, undefined);
    return tail;
  }

  /** The position that the next append takes. */
  get next(): LogPosition {
    return this.#next;
  }

  /** The segments without records. They are not in the segment list. */
  get empty(): readonly Segment[] {
    return this.#active.table.count === 0 ? [this.#active, ...this.#ready] : this.#ready;
  }

  /** Durable when it resolves. If it rejects, the outcome is unknown, and nothing may be appended any more. */
  async append(batch: LogBatch): Promise<void> {
    const { loop, marks } = this.#parts;
    const payload = await loop.run(APPEND, payloadBytes(batch, loop));
    const most = payload + MARKED_FRAME_HEADER_BYTES;
    if (this.#overflows(this.#active, most, 1)) await this.#roll(most);
    const active = this.#active;
    const { table, header, file } = active;
    const size = payload + table.frameHeaderBytes;
    const wallMs = header.marked ? marks.next() : undefined;
    const place = { salt: header.salt, previous: active.chain, wallMs };
    const end = table.end + size;
    const offsets = new Uint32Array(batch.records.length);
    const assembling = this.#buffer.assemble(batch, size, place, table.end, offsets, loop);
    const { bytes, crc } = await loop.run(APPEND, assembling);
    const cleared = this.#preallocation.claim(end);
    if (cleared !== undefined) await cleared;
    const { clock } = this.#parts;
    const startMs = clock.nowMs();
    const inline = this.#inline.may(size, startMs);
    const writing = file.write(bytes, table.end, inline);
    if (inline) this.#blocked(startMs, clock.nowMs());
    await writing;
    this.#inline.took(size, clock.nowMs() - startMs);
    const opening = table.count === 0;
    table.addFrame(batch.first, offsets, end);
    active.chain = crc;
    this.#next = endOf(batch);
    if (opening) this.#parts.segments.push(active);
    this.#preallocation.advance();
    if (table.end > this.#parts.segmentBytes / 2) this.#prepare();
  }

  /** The disk has kept the event loop meanwhile. */
  #blocked(startMs: number, nowMs: number): void {
    const tookMs = nowMs - startMs;
    this.#inline.blocked(tookMs, nowMs);
    const { watch } = this.#parts.loop;
    if (tookMs > watch.budgetMs) watch.stretched('disk', tookMs);
  }

  /** Resolves when the next segment is ready, or could not be made: then `roll` takes no longer than an append. */
  async prepared(): Promise<void> {
    this.#prepare();
    await this.#preparing;
  }

  /** Seals the current segment, so that it can be cleaned, and continues in the next one. Not during an append. */
  async roll(): Promise<void> {
    if (this.#active.table.count > 0) await this.#begin();
  }

  /** Resolves when every segment before the last is sealed, or could not be. */
  async sealed(): Promise<void> {
    await this.#sealing;
  }

  /** Call it after the last append. Waits for running work and leaves no zeros after the frames. */
  async close(): Promise<void> {
    const { condition } = this.#parts;
    this.#closed = true;
    await this.#preparing;
    await this.#sealing;
    await this.#preallocation.stop();
    if (condition.failed) return;
    try {
      await this.#active.file.truncate(this.#active.table.end);
    } catch (error) {
      condition.logger.warn({ path: condition.path, err: error }, 'cannot give back reserved space');
    }
  }

  #overflows({ table }: Segment, size: number, times: number): boolean {
    return table.count > 0 && table.end + size > this.#parts.segmentBytes * times;
  }

  async #roll(size: number): Promise<void> {
    if (this.#ready.length > 0 || this.#overflows(this.#active, size, OVERFULL)) await this.#begin();
    else this.#prepare();
  }

  async #begin(): Promise<void> {
    while (this.#ready.length === 0) {
      this.#prepareFromMs = Number.NEGATIVE_INFINITY;
      this.#prepare();
      await this.#preparing;
      this.#parts.condition.check();
      if (this.#ready.length === 0) throw this.#prepareError;
    }
    const [full, before] = [this.#active, this.#preallocation];
    const next = this.#ready[0]!;
    this.#preallocation = await reserveBehind(this.#parts, next, before.bytes);
    this.#ready.shift();
    this.#active = next;
    this.#seal(full, before);
  }

  #prepare(): void {
    const { maker, clock, condition } = this.#parts;
    if (this.#closed || this.#preparing !== undefined || this.#ready.length > 0) return;
    if (clock.nowMs() < this.#prepareFromMs) return;
    this.#prepareFromMs = clock.nowMs() + PREPARE_AGAIN_MS;
    const make = async (): Promise<void> => {
      try {
        this.#ready.push(await maker.make(reserveBytes(this.#parts, this.#preallocation.bytes)));
      } catch (error) {
        this.#prepareError = error;
        condition.logger.warn({ path: condition.path, err: error }, 'cannot make the next segment yet');
      }
    };
    this.#preparing = make().finally(() => {
      this.#preparing = undefined;
    });
  }

  /**
   * Segments are sealed in order: in the manifest, no sealed segment follows one that is not sealed, unless writing to
   * the manifest failed.
   */
  #seal(segment: Segment, preallocation: Preallocation | undefined): void {
    const { condition } = this.#parts;
    const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
      try {
        if (!condition.failed) await work();
      } catch (error) {
        condition.logger.warn({ path: condition.path, file: fileName('seg', segment.id), err: error }, what);
      }
    };
    this.#sealing = this.#sealing.then(async () => {
      await attempt('cannot give back reserved space', async () => {
        await preallocation?.stop();
        await shorten(segment.file, segment.table.end, () => !this.#closed);
        await segment.file.sync();
      });
      await attempt('cannot save the table of a segment', () => this.#saveTable(segment));
      await attempt('cannot seal a segment', () => this.#note(segment));
    });
  }

  async #saveTable({ header, table, chain }: Segment): Promise<void> {
    const { fileSystem, condition } = this.#parts;
    table.seal();
    await writeSidecar(fileSystem, condition.path, header, table, chain);
  }

  async #note(segment: Segment): Promise<void> {
    const { manifest, onSealed } = this.#parts;
    const { id, table } = segment;
    const sealed = { first: table.first, next: table.next, records: table.count, bytes: table.end };
    await manifest.change(
      () => [segmentWrite({ id, kind: 'appended', sealed })],
      () => {
        segment.sealed = true;
        onSealed();
      },
    );
  }
}

/** Never reserves beyond a segment's size. */
function reserveBytes({ reserves, segmentBytes }: LogTailParts, bytes: number): number {
  if (!reserves) return 0;
  return Math.min(bytes, segmentBytes - SEGMENT_HEADER_BYTES);
}

async function reserveBehind(
  { fileSystem, condition, clock, reserves, segmentBytes }: LogTailParts,
  segment: Segment,
  bytes: number,
): Promise<Preallocation> {
  const file = await fileSystem.open(filePath(condition.path, 'seg', segment.id), 'update');
  // This storage wrote the bytes after the frames, and opening has seen that they are zeros.
  const range = { end: segment.table.end, reserved: await file.size(), limit: reserves ? segmentBytes : 0, bytes };
  return new Preallocation(file, range, clock, condition);
}

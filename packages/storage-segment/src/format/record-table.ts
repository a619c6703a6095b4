import { assert } from '@engram/core';
import { FRAME_HEADER_BYTES, RECORD_HEADER_BYTES, SEGMENT_BYTES_MAX } from './layout.ts';

const OFFSET = 0x7fffffff;
const FRAME_START = 0x80000000;
const SPARSE_SPAN_MAX = 2 ** 32;

/**
 * The places of one segment's records: their offsets in order, four bytes each, and the positions, four bytes more, if
 * some are missing. The first record of each frame is marked, so the table also knows where frames begin and where
 * records end.
 */
export class RecordTable {
  /** The position of the first record; undefined while there is none. */
  #first: number | undefined;
  #count: number;
  #offsets: Uint32Array<ArrayBuffer>;
  /** Positions relative to `#first`; undefined if none is missing. */
  #deltas: Uint32Array<ArrayBuffer> | undefined;
  /** Where the last frame ends. */
  #end: number;
  #frames = 0;
  /** The length of the header of each frame. */
  readonly frameHeaderBytes: number;

  /** `end` is where the first frame will begin. */
  constructor(end: number, sparse: boolean, frameHeaderBytes = FRAME_HEADER_BYTES) {
    this.frameHeaderBytes = frameHeaderBytes;
    this.#end = end;
    this.#count = 0;
    this.#offsets = new Uint32Array(256);
    this.#deltas = sparse ? new Uint32Array(256) : undefined;
  }

  /** Restores a table from its `columns`. */
  static restore(
    first: number,
    end: number,
    offsets: Uint32Array<ArrayBuffer>,
    deltas: Uint32Array<ArrayBuffer> | undefined,
    frameHeaderBytes = FRAME_HEADER_BYTES,
  ): RecordTable {
    const table = new RecordTable(end, deltas !== undefined, frameHeaderBytes);
    table.#first = first;
    table.#count = offsets.length;
    table.#offsets = offsets;
    table.#deltas = deltas;
    for (const offset of offsets) if (offset >= FRAME_START) table.#frames += 1;
    return table;
  }

  get count(): number {
    return this.#count;
  }

  /** The position of the first record. There must be one. */
  get first(): number {
    assert(this.#first !== undefined, 'an empty table has no first record');
    return this.#first;
  }

  /** The position after the last record. There must be one. */
  get next(): number {
    return this.positionAt(this.#count - 1) + 1;
  }

  /** Where the last frame ends and the next one would begin. */
  get end(): number {
    return this.#end;
  }

  /** The bytes of all records with their headers. */
  recordBytes(fileHeaderBytes: number): number {
    return this.#end - fileHeaderBytes - this.#frames * this.frameHeaderBytes;
  }

  get sparse(): boolean {
    return this.#deltas !== undefined;
  }

  /** The columns themselves; not to be changed. */
  get columns(): { readonly offsets: Uint32Array; readonly deltas: Uint32Array | undefined } {
    return { offsets: this.#offsets.subarray(0, this.#count), deltas: this.#deltas?.subarray(0, this.#count) };
  }

  /** Begins a frame at the end of the last one. Its records are added next. */
  beginFrame(): void {
    this.#frames += 1;
    this.#end += this.frameHeaderBytes;
  }

  /**
   * `opens` marks the first record of a frame. `bytes` is the length of the record without its header. Positions
   * ascend.
   */
  add(position: number, bytes: number, opens: boolean): void {
    const index = this.#count;
    if (index === this.#offsets.length) this.#grow();
    this.#first ??= position;
    if (this.#deltas === undefined) assert(position === this.#first + index, 'a gap in a dense table');
    else {
      const delta = position - this.#first;
      assert(delta < SPARSE_SPAN_MAX && (index === 0 || delta > this.#deltas[index - 1]!), 'positions ascend');
      this.#deltas[index] = delta;
    }
    this.#offsets[index] = opens ? this.#end | FRAME_START : this.#end;
    this.#end += RECORD_HEADER_BYTES + bytes;
    assert(this.#end <= SEGMENT_BYTES_MAX, 'a segment that is too long');
    this.#count = index + 1;
  }

  /**
   * Adds a whole frame of records without gaps. `offsets` are those of the record headers in the file, `end` is where
   * the frame ends.
   */
  addFrame(first: number, offsets: Uint32Array, end: number): void {
    assert(this.#deltas === undefined, 'a frame that is added whole to a sparse table');
    assert(this.#first === undefined || first === this.#first + this.#count, 'a gap in a dense table');
    assert(offsets.length > 0 && offsets[0] === this.#end + this.frameHeaderBytes, 'a frame that begins elsewhere');
    assert(end <= SEGMENT_BYTES_MAX, 'a segment that is too long');
    const from = this.#count;
    while (from + offsets.length > this.#offsets.length) this.#grow();
    this.#offsets.set(offsets, from);
    this.#offsets[from] = offsets[0] | FRAME_START;
    this.#first ??= first;
    this.#count += offsets.length;
    this.#frames += 1;
    this.#end = end;
  }

  /** Frees spare memory: nothing is added any more. */
  seal(): void {
    this.#offsets = this.#offsets.slice(0, this.#count);
    this.#deltas = this.#deltas?.slice(0, this.#count);
  }

  /** -1 if there is no record of this position. */
  indexOf(position: number): number {
    if (this.#first === undefined) return -1;
    const delta = position - this.#first;
    if (this.#deltas === undefined) return delta >= 0 && delta < this.#count ? delta : -1;
    const index = this.lowerBound(position);
    return index < this.#count && this.#deltas[index] === delta ? index : -1;
  }

  /** The index of the first record at or after the position; `count` if there is none. */
  lowerBound(position: number): number {
    if (this.#first === undefined) return 0;
    const delta = position - this.#first;
    if (this.#deltas === undefined) return Math.min(Math.max(delta, 0), this.#count);
    let low = 0;
    for (let high = this.#count; low < high; ) {
      const middle = (low + high) >>> 1;
      if (this.#deltas[middle]! < delta) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  positionAt(index: number): number {
    assert(index >= 0 && index < this.#count, 'no such record');
    return this.#first! + (this.#deltas === undefined ? index : this.#deltas[index]!);
  }

  /** The offset of the record's header. */
  offsetAt(index: number): number {
    return this.#offsets[index]! & OFFSET;
  }

  opensFrame(index: number): boolean {
    return this.#offsets[index]! >= FRAME_START;
  }

  /** The offset of the record's end. */
  endAt(index: number): number {
    if (index + 1 >= this.#count) return this.#end;
    const next = this.offsetAt(index + 1);
    return this.opensFrame(index + 1) ? next - this.frameHeaderBytes : next;
  }

  /** The index of the first record in this one's frame. */
  frameStart(index: number): number {
    let start = index;
    while (!this.opensFrame(start)) start -= 1;
    return start;
  }

  /** The index after the last record in this one's frame. */
  frameEnd(index: number): number {
    let end = index + 1;
    while (end < this.#count && !this.opensFrame(end)) end += 1;
    return end;
  }

  #grow(): void {
    const length = this.#offsets.length * 2;
    const offsets = new Uint32Array(length);
    offsets.set(this.#offsets);
    this.#offsets = offsets;
    if (this.#deltas === undefined) return;
    const deltas = new Uint32Array(length);
    deltas.set(this.#deltas);
    this.#deltas = deltas;
  }
}

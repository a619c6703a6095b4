/** protobuf.dev/programming-guides/encoding */
export const WIRE_VARINT = 0;
export const WIRE_FIXED64 = 1;
export const WIRE_BYTES = 2;
export const WIRE_FIXED32 = 5;

const VARINT_BYTES_MAX = 10;

/**
 * Writes a protobuf message from its end to its start: the length of a nested message is known when its prefix is due, and
 * nothing is measured or copied for it. So fields are written last first.
 */
export class ProtoWriter {
  #bytes: Uint8Array;
  #start: number;

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
    this.#start = capacity;
  }

  /** What was written; the writer is spent. */
  finish(): Uint8Array {
    return this.#bytes.subarray(this.#start);
  }

  /** A safe integer from 0; nothing for 0, which is what a missing field means. */
  varint(field: number, value: number): void {
    if (value === 0) return;
    this.#varint(value);
    this.#tag(field, WIRE_VARINT);
  }

  bool(field: number, value: boolean): void {
    this.varint(field, value ? 1 : 0);
  }

  /** Nothing for 0. */
  fixed64(field: number, value: bigint): void {
    if (value === 0n) return;
    this.#reserve(8);
    this.#start -= 8;
    new DataView(this.#bytes.buffer).setBigUint64(this.#start, value, true);
    this.#tag(field, WIRE_FIXED64);
  }

  /** Also when they are empty: in a oneof that says which it is. */
  bytes(field: number, value: Uint8Array): void {
    this.#reserve(value.length);
    this.#start -= value.length;
    this.#bytes.set(value, this.#start);
    this.#varint(value.length);
    this.#tag(field, WIRE_BYTES);
  }

  /** What `write` writes, as a message of its own; also when it is empty. */
  message(field: number, write: () => void): void {
    const before = this.#bytes.length - this.#start;
    write();
    this.#varint(this.#bytes.length - this.#start - before);
    this.#tag(field, WIRE_BYTES);
  }

  packedFixed64(field: number, values: readonly bigint[]): void {
    if (values.length === 0) return;
    this.#reserve(values.length * 8);
    this.#start -= values.length * 8;
    const view = new DataView(this.#bytes.buffer);
    for (let at = 0; at < values.length; at += 1) view.setBigUint64(this.#start + at * 8, values[at]!, true);
    this.#varint(values.length * 8);
    this.#tag(field, WIRE_BYTES);
  }

  #tag(field: number, wireType: number): void {
    this.#varint(field * 8 + wireType);
  }

  #varint(value: number): void {
    this.#reserve(VARINT_BYTES_MAX);
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size += 1;
    this.#start -= size;
    let rest = value;
    for (let at = this.#start; at < this.#start + size - 1; at += 1) {
      this.#bytes[at] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#start + size - 1] = rest;
  }

  #reserve(room: number): void {
    if (room <= this.#start) return;
    const used = this.#bytes.length - this.#start;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, used + room));
    grown.set(this.#bytes.subarray(this.#start), grown.length - used);
    this.#start = grown.length - used;
    this.#bytes = grown;
  }
}

import { RaftError } from '../raft-error.ts';
import { WIRE_BYTES, WIRE_FIXED32, WIRE_FIXED64, WIRE_VARINT } from './proto-writer.ts';

const VARINT_BYTES_MAX = 10;

/** Reads one protobuf message, field by field, from bytes that may be anything. Throws RaftError `bad-bytes`. */
export class ProtoReader {
  readonly #bytes: Uint8Array;
  readonly #what: string;
  #at: number;
  readonly #end: number;
  #wireType = WIRE_VARINT;

  /** `what` names the message in errors. */
  constructor(bytes: Uint8Array, what: string, at = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#what = what;
    this.#at = at;
    this.#end = end;
  }

  /** The number of the next field; 0 at the end. Its value must be read, or skipped. */
  field(): number {
    if (this.#at === this.#end) return 0;
    const tag = this.#rawVarint();
    this.#wireType = tag % 8;
    const field = Math.floor(tag / 8);
    if (field === 0) throw this.failure('field 0');
    return field;
  }

  /** From 0 to 2^53 - 1. */
  varint(): number {
    this.#expect(WIRE_VARINT);
    return this.#rawVarint();
  }

  bool(): boolean {
    return this.varint() !== 0;
  }

  fixed64(): bigint {
    this.#expect(WIRE_FIXED64);
    return this.#rawFixed64();
  }

  /** A view, not a copy. */
  bytes(): Uint8Array {
    const end = this.#length();
    // Not subarray: of a Buffer that would be a Buffer.
    const value = new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + this.#at, end - this.#at);
    this.#at = end;
    return value;
  }

  message(what: string): ProtoReader {
    const end = this.#length();
    const reader = new ProtoReader(this.#bytes, what, this.#at, end);
    this.#at = end;
    return reader;
  }

  /** One value, or many packed into one field: both are allowed for a repeated number. */
  repeatedFixed64(into: bigint[]): void {
    if (this.#wireType === WIRE_FIXED64) {
      into.push(this.#rawFixed64());
      return;
    }
    const end = this.#length();
    if ((end - this.#at) % 8 !== 0) throw this.failure('packed numbers that end within one');
    while (this.#at < end) into.push(this.#rawFixed64());
  }

  /** Passes over a field that this version does not know. */
  skip(): void {
    if (this.#wireType === WIRE_VARINT) this.#skipVarint();
    else if (this.#wireType === WIRE_FIXED64) this.#skipTo(this.#at + 8);
    else if (this.#wireType === WIRE_FIXED32) this.#skipTo(this.#at + 4);
    else if (this.#wireType === WIRE_BYTES) this.#at = this.#length();
    else throw this.failure(`wire type ${this.#wireType}`);
  }

  failure(fault: string): RaftError {
    return new RaftError('bad-bytes', `${this.#what}: ${fault} at byte ${this.#at}`);
  }

  #expect(wireType: number): void {
    if (this.#wireType !== wireType) throw this.failure(`wire type ${this.#wireType}, not ${wireType}`);
  }

  #length(): number {
    this.#expect(WIRE_BYTES);
    const end = this.#rawVarint() + this.#at;
    if (end > this.#end) throw this.failure('cut off');
    return end;
  }

  #skipTo(end: number): void {
    if (end > this.#end) throw this.failure('cut off');
    this.#at = end;
  }

  #rawFixed64(): bigint {
    const at = this.#at;
    this.#skipTo(at + 8);
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + at, 8).getBigUint64(0, true);
  }

  #rawVarint(): number {
    let value = 0;
    let scale = 1;
    for (let read = 0; read < VARINT_BYTES_MAX; read += 1) {
      if (this.#at >= this.#end) throw this.failure('cut off');
      const byte = this.#bytes[this.#at]!;
      this.#at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) throw this.failure('a number above 2^53 - 1');
        return value;
      }
      scale *= 0x80;
    }
    throw this.failure('a varint of more than ten bytes');
  }

  /** Any 64 bits: the field is of a version to come. */
  #skipVarint(): void {
    for (let read = 0; read < VARINT_BYTES_MAX; read += 1) {
      this.#skipTo(this.#at + 1);
      if (this.#bytes[this.#at - 1]! < 0x80) return;
    }
    throw this.failure('a varint of more than ten bytes');
  }
}

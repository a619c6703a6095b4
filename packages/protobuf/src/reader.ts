import { assert, EMPTY_BYTES, type Int64 } from '@engram/core';
import { malformed, WireError } from './wire-error.ts';
import { HIGH, halves, LOW, signed64, unsigned64 } from './word64.ts';

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;
const START_GROUP = 3;
const END_GROUP = 4;
const FIXED32 = 5;

const TWO_32 = 4_294_967_296;
const FIELD_NUMBER_MAX = 0x1fff_ffff;
/**
 * The deepest nesting of messages: far more than a valid transaction needs, and far less than the JavaScript stack
 * allows.
 */
const DEPTH_MAX = 1_000;
/** protobuf-go's limit for groups within groups of an unknown field (encoding/protowire: DefaultRecursionLimit). */
const GROUP_DEPTH_MAX = 10_000;

/** More than any message has. A small integer of V8. */
const UNBOUNDED = 2 ** 30 - 1;
/**
 * Fields of a request of a client, its nested messages and items of packed lists included. Without it 2 MiB of strings of
 * one byte took 60 to 73 ms, and with it at most 4; protobuf-go has no such bound.
 */
export const REQUEST_FIELDS_MAX = 16_384;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Reads protobuf's wire format as strictly as protobuf-go: a varint has at most ten bytes and 64 bits, a field number
 * is 1 to 2^29-1, and no value extends beyond its message. Throws WireError for anything else. `bytes()` returns views
 * of the input, which are valid while the input is unchanged.
 */
export class Reader {
  readonly #input: Uint8Array;
  // For the views of `bytes`. Read from the input once, not for each view.
  readonly #memory: ArrayBufferLike;
  readonly #offset: number;
  #at = 0;
  /** End of the current message. */
  #end: number;
  #depth = 0;
  #fieldsLeft: number;
  // The halves of the last varint, as signed 32-bit numbers.
  #low = 0;
  #high = 0;

  /** Throws WireError at the field, or the item of a packed list, behind `fieldsMax` of them. */
  constructor(input: Uint8Array, fieldsMax = UNBOUNDED) {
    this.#input = input;
    this.#fieldsLeft = Math.min(fieldsMax, UNBOUNDED);
    this.#memory = input.buffer;
    this.#offset = input.byteOffset;
    this.#end = input.length;
  }

  /** Position of the next field. */
  get at(): number {
    return this.#at;
  }

  /** End of the current message. */
  get end(): number {
    return this.#end;
  }

  /** Continues at `at` as in an outermost message that ends at `end`. */
  seek(at: number, end: number): void {
    assert(at >= 0 && at <= end && end <= this.#input.length, 'a message outside of the input');
    this.#at = at;
    this.#end = end;
    this.#depth = 0;
  }

  /** Whether the message has further fields. */
  more(): boolean {
    return this.#at < this.#end;
  }

  /** The next field's number << 3 | its wire type. The result is at least 8. */
  tag(): number {
    this.#fieldsLeft -= 1;
    if (this.#fieldsLeft < 0) throw tooManyFields();
    const first = this.#input[this.#at]!;
    if (first < 0x80 && first >= 8) {
      this.#at += 1;
      return first;
    }
    this.#varint();
    const tag = this.#unsigned();
    const field = Math.floor(tag / 8);
    if (field < 1 || field > FIELD_NUMBER_MAX) throw malformed('invalid field number');
    return tag;
  }

  /** Exact up to 2^53. Beyond that, the nearest number. */
  int64(): number {
    if (this.#single()) return this.#low;
    this.#varint();
    return this.#high * TWO_32 + (this.#low >>> 0);
  }

  uint64(): number {
    if (this.#single()) return this.#low;
    this.#varint();
    return this.#unsigned();
  }

  /** An id, a count or a time: an exact number up to 2^53 - 1. Throws for larger values instead of rounding. */
  count(): number {
    if (this.#single()) return this.#low;
    this.#varint();
    const value = this.#unsigned();
    if (value > Number.MAX_SAFE_INTEGER) throw new WireError('a number above 2^53 - 1 is no plausible id or count');
    return value;
  }

  bigInt64(): bigint {
    if (this.#single()) return BigInt(this.#low);
    this.#varint();
    halves[LOW] = this.#low;
    halves[HIGH] = this.#high;
    return signed64[0]!;
  }

  /** Exact for all of int64, in the canonical form of Int64 for each value. */
  exactInt64(): Int64 {
    const near = this.int64();
    if (Number.isSafeInteger(near)) return near;
    halves[LOW] = this.#low;
    halves[HIGH] = this.#high;
    return signed64[0]!;
  }

  bigUint64(): bigint {
    if (this.#single()) return BigInt(this.#low);
    this.#varint();
    halves[LOW] = this.#low;
    halves[HIGH] = this.#high;
    return unsigned64[0]!;
  }

  /** Also used for enums. The upper 32 bits are dropped, as in every protobuf implementation. */
  int32(): number {
    if (!this.#single()) this.#varint();
    return this.#low;
  }

  uint32(): number {
    if (!this.#single()) this.#varint();
    return this.#low >>> 0;
  }

  bool(): boolean {
    if (this.#single()) return this.#low !== 0;
    this.#varint();
    return this.#low !== 0 || this.#high !== 0;
  }

  bytes(): Uint8Array {
    const end = this.#delimitedEnd();
    const start = this.#at;
    if (start === end) return EMPTY_BYTES;
    this.#at = end;
    return new Uint8Array(this.#memory, this.#offset + start, end - start);
  }

  string(): string {
    const end = this.#delimitedEnd();
    const start = this.#at;
    this.#at = end;
    if (start === end) return '';
    try {
      return utf8.decode(this.#input.subarray(start, end));
    } catch (cause) {
      throw new WireError('string field contains invalid UTF-8', { cause });
    }
  }

  /** Like `string`, but bytes that are not UTF-8 become U+FFFD. For peers whose protobuf library does not check strings. */
  lenientString(): string {
    const end = this.#delimitedEnd();
    const start = this.#at;
    this.#at = end;
    return start === end ? '' : lenientUtf8.decode(this.#input.subarray(start, end));
  }

  /** As `enter`, for a packed list, of which each byte may be an item. */
  enterList(): number {
    const outer = this.enter();
    this.#fieldsLeft -= this.#end - this.#at;
    if (this.#fieldsLeft < 0) throw tooManyFields();
    return outer;
  }

  /** Enters a nested message. Pass the result to `leave` at its end. */
  enter(): number {
    const end = this.#delimitedEnd();
    const outer = this.#end;
    this.#end = end;
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new WireError('proto: exceeded maximum recursion depth');
    return outer;
  }

  leave(outer: number): void {
    this.#end = outer;
    this.#depth -= 1;
  }

  /** Skips the rest of the current message, whatever it is. */
  skipRest(): void {
    this.#at = this.#end;
  }

  /** Skips a field that is unknown or has another wire type than expected. */
  skip(tag: number): void {
    if ((tag & 7) !== START_GROUP) {
      this.#skipValue(tag & 7);
      return;
    }
    const open = [Math.floor(tag / 8)];
    while (open.length > 0) {
      if (!this.more()) throw malformed('unexpected EOF');
      const inner = this.tag();
      const field = Math.floor(inner / 8);
      const type = inner & 7;
      if (type === START_GROUP) {
        if (open.length === GROUP_DEPTH_MAX) throw new WireError('proto: exceeded maximum recursion depth');
        open.push(field);
      } else if (type === END_GROUP) {
        if (open.pop() !== field) throw malformed('mismatching end group marker');
      } else {
        this.#skipValue(type);
      }
    }
  }

  #skipValue(type: number): void {
    switch (type) {
      case VARINT:
        this.#varint();
        return;
      case FIXED64:
        this.#advance(8);
        return;
      case DELIMITED:
        this.#at = this.#delimitedEnd();
        return;
      case FIXED32:
        this.#advance(4);
        return;
      case END_GROUP:
        throw malformed('mismatching end group marker');
      default:
        throw malformed('cannot parse reserved wire type');
    }
  }

  #advance(count: number): void {
    if (this.#end - this.#at < count) throw malformed('unexpected EOF');
    this.#at += count;
  }

  /** Reads and checks the length of a delimited value. Returns the position of its end. */
  #delimitedEnd(): number {
    if (this.#at >= this.#end) throw malformed('unexpected EOF');
    let length = this.#input[this.#at]!;
    if (length < 0x80) {
      this.#at += 1;
    } else {
      this.#varint();
      length = this.#unsigned();
    }
    if (length > this.#end - this.#at) throw malformed('unexpected EOF');
    return this.#at + length;
  }

  #unsigned(): number {
    return (this.#high >>> 0) * TWO_32 + (this.#low >>> 0);
  }

  /** Fast path for varints of one byte: reads the byte into `low` and returns true. */
  #single(): boolean {
    if (this.#at >= this.#end) throw malformed('unexpected EOF');
    const byte = this.#input[this.#at]!;
    if (byte >= 0x80) return false;
    this.#at += 1;
    this.#low = byte;
    this.#high = 0;
    return true;
  }

  #varint(): void {
    const input = this.#input;
    let at = this.#at;
    const end = this.#end;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (at >= end) throw malformed('unexpected EOF');
      const byte = input[at]!;
      at += 1;
      if (shift < 28) low |= (byte & 0x7f) << shift;
      else if (shift === 28) {
        low |= (byte & 0x0f) << 28;
        high = (byte & 0x7f) >> 4;
      } else if (shift < 63) high |= (byte & 0x7f) << (shift - 32);
      else if (byte > 1) throw malformed('variable length integer overflow');
      else high |= byte << 31;
      if (byte < 0x80) {
        this.#at = at;
        this.#low = low;
        this.#high = high;
        return;
      }
    }
    throw malformed('variable length integer overflow');
  }
}

const tooManyFields = (): WireError => new WireError('proto: too many fields');

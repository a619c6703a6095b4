const words = new Uint32Array(2);
const wide = new BigUint64Array(words.buffer);
const signed = new BigInt64Array(words.buffer);

/** The bytes are no message of the expected type. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

/** Reads protobuf primitives from one message. Byte fields come as views: they share the message's memory. */
export class Reader {
  readonly buffer: Uint8Array;
  at: number;
  readonly end: number;
  readonly #memory: ArrayBufferLike;
  readonly #base: number;

  constructor(buffer: Uint8Array) {
    this.buffer = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    this.at = 0;
    this.end = buffer.length;
    this.#memory = buffer.buffer;
    this.#base = buffer.byteOffset;
  }

  #words(): void {
    const { buffer } = this;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.at >= this.end) throw new MalformedMessage('a number runs past the end of the message');
      const byte = buffer[this.at++]!;
      const part = byte & 0x7f;
      if (shift < 28) low |= part << shift;
      else if (shift === 28) {
        low |= part << 28;
        high |= part >> 4;
      } else high |= part << (shift - 32);
      if (byte < 0x80) {
        words[0] = low;
        words[1] = high;
        return;
      }
    }
    throw new MalformedMessage('a number is longer than ten bytes');
  }

  /** Tags, lengths, uint32, bool and enums; a longer number loses its upper half, as the format wants it. */
  uint32(): number {
    const byte = this.buffer[this.at];
    if (byte !== undefined && byte < 0x80 && this.at < this.end) {
      this.at += 1;
      return byte;
    }
    this.#words();
    return words[0]!;
  }

  int32(): number {
    return this.uint32() | 0;
  }

  uint64(): bigint {
    this.#words();
    return wide[0]!;
  }

  int64(): bigint {
    this.#words();
    return signed[0]!;
  }

  /** A 64-bit field that holds ids, counts or milliseconds. Exact or refused: nothing is rounded silently. */
  count(): number {
    this.#words();
    const value = words[1]! * 0x1_0000_0000 + words[0]!;
    if (value > Number.MAX_SAFE_INTEGER) throw new MalformedMessage(`${wide[0]} is no plausible id or count`);
    return value;
  }

  /** Where the field that starts here ends: reads its length prefix. */
  limit(): number {
    const length = this.uint32();
    const limit = this.at + length;
    if (limit > this.end) throw new MalformedMessage('a field runs past the end of the message');
    return limit;
  }

  bytes(): Uint8Array {
    const limit = this.limit();
    // Twice as fast as `subarray`, which asks for the species first; a scan makes two of them for each row.
    const bytes = new Uint8Array(this.#memory, this.#base + this.at, limit - this.at);
    this.at = limit;
    return bytes;
  }

  text(): string {
    const bytes = this.bytes();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  }

  skip(tag: number): void {
    switch (tag & 7) {
      case 0:
        this.#words();
        return;
      case 1:
        this.at += 8;
        break;
      case 2:
        this.at = this.limit();
        return;
      case 5:
        this.at += 4;
        break;
      default:
        throw new MalformedMessage(`wire type ${tag & 7} is not in use`);
    }
    if (this.at > this.end) throw new MalformedMessage('a field runs past the end of the message');
  }
}

import { ErrorCode } from './constants.ts';
import { HeaderField } from './header-field.ts';
import { HpackDynamicTable } from './hpack-dynamic-table.ts';
import { STATIC_TABLE_LENGTH, staticTable } from './hpack-static-table.ts';
import { Http2Error } from './http2-error.ts';
import { huffmanDecode, huffmanDecodedMax } from './huffman.ts';

/** Receives the fields of a block, in order. */
export interface FieldSink {
  field(field: HeaderField): void;
}

const nothing = Buffer.alloc(0);

/** Buffer for the bytes of a decoded Huffman string. Grows with the longest one. */
let scratch = Buffer.allocUnsafeSlow(4096);

/** Bound of the integers in a header block; none needs to be larger. 28 bits keep the arithmetic in small integers. */
const integerMax = 2 ** 28;

/**
 * Decodes the header blocks of one direction of a connection, in order. Every block must be decoded, even if its fields
 * are not used, because it may change the table for the blocks after it. Any fault is a COMPRESSION_ERROR, which ends
 * the connection.
 */
export class HpackDecoder {
  readonly #table: HpackDynamicTable;
  readonly #maxTableBytes: number;
  #bytes: Buffer = nothing;
  #at = 0;
  #end = 0;

  /** `maxTableBytes` is the SETTINGS_HEADER_TABLE_SIZE that this side sent to the peer. */
  constructor(maxTableBytes: number) {
    this.#table = new HpackDynamicTable(maxTableBytes);
    this.#maxTableBytes = maxTableBytes;
  }

  /** While this number is the same, equal blocks have equal fields. */
  get tableChanges(): number {
    return this.#table.changes;
  }

  /** Decodes the whole block `bytes[start, end)`. */
  decode(bytes: Buffer, start: number, end: number, sink: FieldSink): void {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    let fields = 0;
    while (this.#at < end) {
      const first = bytes[this.#at]!;
      if (first >= 0x80) {
        sink.field(this.#lookUp(this.#integer(0x7f)));
        fields += 1;
      } else if (first >= 0x40) {
        const field = this.#literal(0x3f);
        this.#table.add(field);
        sink.field(field);
        fields += 1;
      } else if (first >= 0x20) {
        if (fields > 0) throw broken('table size update behind a field');
        const maxBytes = this.#integer(0x1f);
        if (maxBytes > this.#maxTableBytes) throw broken('table size update above the bound');
        this.#table.setMaxBytes(maxBytes);
      } else {
        sink.field(this.#literal(0x0f));
        fields += 1;
      }
    }
    this.#bytes = nothing; // an idle connection would keep the chunk that the block is in
  }

  #lookUp(index: number): HeaderField {
    const field = index <= STATIC_TABLE_LENGTH ? staticTable[index] : this.#table.at(index - STATIC_TABLE_LENGTH - 1);
    if (field === undefined) throw broken('index of no field');
    return field;
  }

  #literal(indexMask: number): HeaderField {
    const index = this.#integer(indexMask);
    if (index === 0) return new HeaderField(this.#string(), this.#string());
    const namesake = this.#lookUp(index);
    return new HeaderField(namesake.name, this.#string(), namesake);
  }

  /** RFC 7541 §5.1: the value of the prefix, or seven bits per byte in the bytes after it, the lowest first. */
  #integer(mask: number): number {
    let value = this.#bytes[this.#at]! & mask;
    this.#at += 1;
    if (value < mask) return value;
    for (let shift = 0; ; shift += 7) {
      if (this.#at >= this.#end) throw broken('integer cut short');
      const byte = this.#bytes[this.#at]!;
      this.#at += 1;
      if (shift > 21) throw broken('integer too large');
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if (value > integerMax) throw broken('integer too large');
    return value;
  }

  #string(): string {
    if (this.#at >= this.#end) throw broken('string cut short');
    const huffman = this.#bytes[this.#at]! >= 0x80;
    const length = this.#integer(0x7f);
    const start = this.#at;
    const end = start + length;
    if (end > this.#end) throw broken('string cut short');
    this.#at = end;
    if (!huffman) return this.#bytes.toString('latin1', start, end);
    if (scratch.length < huffmanDecodedMax(length)) scratch = Buffer.allocUnsafeSlow(huffmanDecodedMax(length));
    return scratch.toString('latin1', 0, huffmanDecode(this.#bytes, start, end, scratch));
  }
}

function broken(what: string): Http2Error {
  return new Http2Error(ErrorCode.COMPRESSION_ERROR, `header block: ${what}`);
}

import { assert } from '@engram/core';
import { FIELD_OVERHEAD_BYTES, type HeaderField } from './header-field.ts';

/** The fields that one direction of a connection has sent, newest first, within a bound of bytes (RFC 7541 §2.3.2). */
export class HpackDynamicTable {
  /** A ring with room for the greatest number of fields that the bound of bytes allows. */
  readonly #ring: (HeaderField | undefined)[];
  readonly #mask: number;
  #newest = -1;
  #length = 0;
  #bytes = 0;
  #maxBytes: number;
  #changes = 0;

  /** `maxBytes` may be lowered and raised later, but not above this value. */
  constructor(maxBytes: number) {
    const fieldsMax = 2 ** Math.ceil(Math.log2(Math.max(1, maxBytes / FIELD_OVERHEAD_BYTES)));
    this.#ring = new Array<HeaderField | undefined>(fieldsMax).fill(undefined);
    this.#mask = fieldsMax - 1;
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  /** Increases with each change. The result of a look-up is valid until then. */
  get changes(): number {
    return this.#changes;
  }

  /** The newest has age 0. */
  at(age: number): HeaderField | undefined {
    if (age >= this.#length) return undefined;
    return this.#ring[(this.#newest - age) & this.#mask];
  }

  /** A field larger than the table's bound empties the table. This is not an error. */
  add(field: HeaderField): void {
    this.#changes += 1;
    this.#shrinkTo(this.#maxBytes - field.size);
    if (field.size > this.#maxBytes) return;
    this.#newest = (this.#newest + 1) & this.#mask;
    this.#ring[this.#newest] = field;
    this.#length += 1;
    this.#bytes += field.size;
  }

  setMaxBytes(maxBytes: number): void {
    this.#changes += 1;
    this.#maxBytes = maxBytes;
    this.#shrinkTo(maxBytes);
  }

  #shrinkTo(bytes: number): void {
    while (this.#bytes > bytes && this.#length > 0) {
      const oldest = (this.#newest - this.#length + 1) & this.#mask;
      const field = this.#ring[oldest];
      assert(field !== undefined, 'the table lost a field');
      this.#bytes -= field.size;
      this.#ring[oldest] = undefined;
      this.#length -= 1;
    }
  }
}

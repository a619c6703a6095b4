/** One value of DER (X.690): its tag and its content. */
export interface DerValue {
  readonly tag: number;
  readonly content: Uint8Array;
}

export const DER = { boolean: 0x01, integer: 0x02, octets: 0x04, oid: 0x06, sequence: 0x30, utcTime: 0x17, time: 0x18 };

const LONG_FORM = 0x80;
const LENGTH_BYTES_MAX = 4;

/** The values that follow each other in these bytes, as views. Undefined if the bytes are not DER. */
export function derValues(bytes: Uint8Array): readonly DerValue[] | undefined {
  const values: DerValue[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at]!;
    const first = bytes[at + 1];
    if (first === undefined) return undefined;
    at += 2;
    let length = first;
    if (first >= LONG_FORM) {
      const count = first - LONG_FORM;
      if (count === 0 || count > LENGTH_BYTES_MAX || at + count > bytes.length) return undefined;
      length = 0;
      for (const end = at + count; at < end; at += 1) length = length * 256 + bytes[at]!;
    }
    if (at + length > bytes.length) return undefined;
    values.push({ tag, content: bytes.subarray(at, at + length) });
    at += length;
  }
  return values;
}

/** The values within a SEQUENCE. Undefined if the value is none, or its content is not DER. */
export const sequenceOf = (value: DerValue | undefined): readonly DerValue[] | undefined =>
  value?.tag === DER.sequence ? derValues(value.content) : undefined;

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

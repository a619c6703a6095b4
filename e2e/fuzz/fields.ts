/** A field of a message in protobuf's form, without what the type says of it. */
export interface Field {
  readonly number: number;
  readonly varint: bigint | undefined;
  readonly bytes: Buffer | undefined;
}

/** The fields of a message in their order, and their repetitions. Undefined if these bytes are no message. */
export function fieldsOf(message: Uint8Array): readonly Field[] | undefined {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint | undefined => {
    let value = 0n;
    for (let shift = 0n; at < bytes.length && shift < 70n; shift += 7n) {
      const byte = bytes[at]!;
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    return undefined;
  };
  while (at < bytes.length) {
    const tag = varint();
    if (tag === undefined) return undefined;
    const [number, kind] = [Number(tag >> 3n), Number(tag & 7n)];
    const value = kind === 0 || kind === 2 ? varint() : undefined;
    const length = kind === 2 ? Number(value ?? 0n) : kind === 1 ? 8 : kind === 5 ? 4 : 0;
    const known = (kind === 0 || kind === 2) === (value !== undefined) && [0, 1, 2, 5].includes(kind);
    if (!known || at + length > bytes.length) return undefined;
    fields.push({
      number,
      varint: kind === 0 ? value : undefined,
      bytes: kind === 2 ? bytes.subarray(at, at + length) : undefined,
    });
    at += length;
  }
  return fields;
}

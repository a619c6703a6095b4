import type { FieldToEncode } from '@engram/http2';

/** The header fields of a plain HTTP answer. */
export function headFields(status: number, headers: Readonly<Record<string, string>>): readonly FieldToEncode[] {
  const fields: FieldToEncode[] = [{ name: ':status', value: String(status), indexing: 'once' }];
  for (const [name, value] of Object.entries(headers)) {
    fields.push({ name: name.toLowerCase(), value: Buffer.from(value).toString('latin1'), indexing: 'once' });
  }
  return fields;
}

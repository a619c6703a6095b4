import type { HeaderField } from '@engram/http2';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const valid = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/**
 * Cached per field: a client can refer to a field of the table with one byte any number of times, and a field may have
 * 4 KiB.
 */
const faults = new WeakMap<HeaderField, string | undefined>();

/** `base64Fault` of the field's value. */
export function binaryFaultOf(field: HeaderField): string | undefined {
  if (faults.has(field)) return faults.get(field);
  const fault = base64Fault(field.value);
  faults.set(field, fault);
  return fault;
}

/**
 * Why the value of a `-bin` header is not base64, in Go's words (encoding/base64). The value must be padded if its
 * length is a multiple of four, and unpadded otherwise. Undefined if it is valid.
 */
export function base64Fault(value: string): string | undefined {
  const padded = value.length % 4 === 0;
  if (valid.test(value) && (padded || !value.endsWith('='))) return undefined;
  return `illegal base64 data at input byte ${firstIllegal(value, padded)}`;
}

function firstIllegal(value: string, padded: boolean): number {
  let at = 0;
  while (at < value.length && letters.includes(value[at]!)) at += 1;
  const inQuantum = at % 4;
  // The text ends within a quantum: Go names the quantum's first byte.
  if (at === value.length) return at - inQuantum;
  if (value[at] !== '=' || !padded || inQuantum < 2) return at;
  // One byte of padding instead of two, or something after the padding.
  if (inQuantum === 2 && value[at + 1] !== '=') return at + 1 === value.length ? value.length : at;
  return inQuantum === 2 ? at + 2 : at + 1;
}

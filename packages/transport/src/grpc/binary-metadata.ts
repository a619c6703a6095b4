import type { HeaderField } from '@engram/wire';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const valid = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** A field of a table is referred to with a byte, as often as a client likes, and may have 4 KiB: each is read once. */
const faults = new WeakMap<HeaderField, string | undefined>();

/** As `base64Fault` has it of the field's value. */
export function binaryFaultOf(field: HeaderField): string | undefined {
  if (faults.has(field)) return faults.get(field);
  const fault = base64Fault(field.value);
  faults.set(field, fault);
  return fault;
}

/**
 * Why the value of a `-bin` header is no base64, in Go's words (encoding/base64): with its padding if its length is a
 * multiple of four, else without. Undefined if it is.
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
  // Cut short within a quantum: Go names the quantum's first byte.
  if (at === value.length) return at - inQuantum;
  if (value[at] !== '=' || !padded || inQuantum < 2) return at;
  // One byte of padding where two are due, or something behind the padding.
  if (inQuantum === 2 && value[at + 1] !== '=') return at + 1 === value.length ? value.length : at;
  return inQuantum === 2 ? at + 2 : at + 1;
}

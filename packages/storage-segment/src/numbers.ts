import { crc32 } from 'node:zlib';
import { getU64, setU64 } from './layout.ts';

const CRC_BYTES = 4;

/** Some numbers, whole and not negative, and bytes behind them, with a CRC that also covers the name they go under. */
export function encodeNumbers(name: Uint8Array, numbers: readonly number[], rest?: Uint8Array): Uint8Array {
  const head = CRC_BYTES + 1 + 8 * numbers.length;
  const bytes = new Uint8Array(head + (rest?.length ?? 0));
  const view = new DataView(bytes.buffer);
  bytes[CRC_BYTES] = numbers.length;
  for (const [index, number] of numbers.entries()) setU64(view, CRC_BYTES + 1 + 8 * index, number);
  if (rest !== undefined) bytes.set(rest, head);
  view.setUint32(0, crc32(bytes.subarray(CRC_BYTES), crc32(name)), true);
  return bytes;
}

export interface Numbers {
  readonly numbers: readonly number[];
  /** A view. */
  readonly rest: Uint8Array;
}

/** Undefined where they are not what was written under this name, or not `count`. */
export function decodeNumbers(name: Uint8Array, bytes: Uint8Array, count: number): Numbers | undefined {
  const head = CRC_BYTES + 1 + 8 * count;
  if (bytes.length < head || bytes[CRC_BYTES] !== count) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const body = new Uint8Array(bytes.buffer, bytes.byteOffset + CRC_BYTES, bytes.byteLength - CRC_BYTES);
  if (crc32(body, crc32(name)) !== view.getUint32(0, true)) return undefined;
  const numbers: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const number = getU64(view, CRC_BYTES + 1 + 8 * index);
    if (!Number.isSafeInteger(number)) return undefined;
    numbers.push(number);
  }
  return { numbers, rest: new Uint8Array(bytes.buffer, bytes.byteOffset + head, bytes.byteLength - head) };
}

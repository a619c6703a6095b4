import { crc32 } from 'node:zlib';

const CRC_BYTES = 4;

/** Some numbers, whole and not negative, under a CRC that knows what they are for. */
export function encodeNumbers(purpose: string, numbers: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(CRC_BYTES + 8 * numbers.length);
  const view = new DataView(bytes.buffer);
  for (const [index, number] of numbers.entries()) view.setBigUint64(CRC_BYTES + 8 * index, BigInt(number), true);
  view.setUint32(0, crc32(bytes.subarray(CRC_BYTES), crc32(purpose)), true);
  return bytes;
}

/** Undefined for anything else than what was encoded for this purpose. */
export function decodeNumbers(purpose: string, bytes: Uint8Array): readonly number[] | undefined {
  if (bytes.length % 8 !== CRC_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (crc32(bytes.subarray(CRC_BYTES), crc32(purpose)) !== view.getUint32(0, true)) return undefined;
  const numbers: number[] = [];
  for (let at = CRC_BYTES; at < bytes.length; at += 8) numbers.push(Number(view.getBigUint64(at, true)));
  return numbers;
}

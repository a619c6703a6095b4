import { crc32 } from 'node:zlib';

/** Where every value of the log has its CRC. */
const CRC_AT = 8;

/** Of all bytes but its own four. */
export function crcOf(value: Uint8Array): number {
  return crc32(value.subarray(CRC_AT + 4), crc32(value.subarray(0, CRC_AT)));
}

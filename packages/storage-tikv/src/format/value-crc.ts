import { crc32 } from 'node:zlib';

/** The offset of the CRC in every value. */
const CRC_AT = 8;

/** The CRC of all bytes except its own four. */
export function crcOf(value: Uint8Array): number {
  return crc32(value.subarray(CRC_AT + 4), crc32(value.subarray(0, CRC_AT)));
}

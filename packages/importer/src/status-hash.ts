const CASTAGNOLI = 0x82f63b78;

/** Bytes that one step takes, each by a table of its own ("slicing by 16"). A step a byte takes five times as long. */
const STEP_BYTES = 16;
const ROWS = 256;

/** Row `byte` of table `behind` is what a byte adds to the CRC where `behind` bytes follow it. */
const tables = new Int32Array(STEP_BYTES * ROWS);
for (let byte = 0; byte < ROWS; byte += 1) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >>> 1) ^ CASTAGNOLI : crc >>> 1;
  tables[byte] = crc;
  for (let behind = 1; behind < STEP_BYTES; behind += 1) {
    // The CRC goes on over a zero byte. The rows of table 0 may not be there yet, so bit by bit.
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >>> 1) ^ CASTAGNOLI : crc >>> 1;
    tables[behind * ROWS + byte] = crc;
  }
}

/**
 * The hash that `etcdutl snapshot status` shows: a CRC-32C of the names of all buckets, each with its keys and values
 * behind it (etcd etcdutl/snapshot/v3_snapshot.go: Status).
 */
export class StatusHash {
  #crc = -1;

  update(bytes: Uint8Array): void {
    const table = tables;
    let crc = this.#crc;
    let at = 0;
    for (const end = bytes.length - STEP_BYTES; at <= end; at += STEP_BYTES) {
      crc =
        table[0xf00 | ((crc ^ bytes[at]!) & 0xff)]! ^
        table[0xe00 | (((crc >>> 8) ^ bytes[at + 1]!) & 0xff)]! ^
        table[0xd00 | (((crc >>> 16) ^ bytes[at + 2]!) & 0xff)]! ^
        table[0xc00 | ((crc >>> 24) ^ bytes[at + 3]!)]! ^
        table[0xb00 | bytes[at + 4]!]! ^
        table[0xa00 | bytes[at + 5]!]! ^
        table[0x900 | bytes[at + 6]!]! ^
        table[0x800 | bytes[at + 7]!]! ^
        table[0x700 | bytes[at + 8]!]! ^
        table[0x600 | bytes[at + 9]!]! ^
        table[0x500 | bytes[at + 10]!]! ^
        table[0x400 | bytes[at + 11]!]! ^
        table[0x300 | bytes[at + 12]!]! ^
        table[0x200 | bytes[at + 13]!]! ^
        table[0x100 | bytes[at + 14]!]! ^
        table[bytes[at + 15]!]!;
    }
    for (; at < bytes.length; at += 1) crc = table[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8);
    this.#crc = crc;
  }

  /** As etcdutl prints it. */
  get text(): string {
    return (~this.#crc >>> 0).toString(16);
  }
}

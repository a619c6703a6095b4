const CASTAGNOLI = 0x82f63b78;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >>> 1) ^ CASTAGNOLI : crc >>> 1;
  return crc;
});

/**
 * The hash that `etcdutl snapshot status` shows: a CRC-32C of the names of all buckets, each with its keys and values
 * behind it (etcd etcdutl/snapshot/v3_snapshot.go: Status).
 */
export class StatusHash {
  #crc = 0xffff_ffff;

  update(bytes: Uint8Array): void {
    let crc = this.#crc;
    for (const byte of bytes) crc = table[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
    this.#crc = crc;
  }

  /** As etcdutl prints it. */
  get text(): string {
    return ((this.#crc ^ 0xffff_ffff) >>> 0).toString(16);
  }
}

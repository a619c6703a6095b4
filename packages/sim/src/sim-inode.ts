import type { Prng } from './prng.ts';

/** Smaller than the sector of any disk. Bytes that are not durable are lost or kept in pieces of this size. */
const SECTOR = 64;

/** A file, independent of its names: its bytes as programs see them, and as they are on the disk. */
export class SimInode {
  /** The bytes that programs see. */
  cached: Uint8Array = new Uint8Array(0);
  /** The bytes on the disk. */
  durable: Uint8Array = new Uint8Array(0);
  /**
   * The number of failed writes to the disk. Each open descriptor reports each failure once, whichever descriptor wrote
   * the bytes.
   */
  failures = 0;
  /** Sectors whose cached bytes are still to be written. */
  readonly #dirty = new Set<number>();

  /** The sectors that a sync which begins now writes. */
  dirtySectors(): readonly number[] {
    return [...this.#dirty];
  }

  write(bytes: Uint8Array, offset: number): void {
    if (bytes.length === 0) return;
    const end = offset + bytes.length;
    if (end > this.cached.length) this.cached = resized(this.cached, end);
    this.cached.set(bytes, offset);
    for (let sector = Math.floor(offset / SECTOR); sector * SECTOR < end; sector += 1) this.#dirty.add(sector);
  }

  /** Bytes that are cut off read as zeros when the file grows again. */
  truncate(length: number): void {
    const before = Math.max(this.cached.length, this.durable.length);
    for (let sector = Math.floor(length / SECTOR); sector * SECTOR < before; sector += 1) this.#dirty.add(sector);
    this.cached = resized(this.cached, length);
  }

  /** Puts these sectors, as they are now, and the whole length on the disk. */
  sync(sectors: readonly number[]): void {
    this.durable = resized(this.durable, this.cached.length);
    for (const sector of sectors) {
      copySector(this.cached, this.durable, sector);
      this.#dirty.delete(sector);
    }
  }

  /**
   * Makes a durable write: the bytes from `offset` to `end` are on the disk. The durable length grows only as far as
   * they need.
   */
  flush(offset: number, end: number): void {
    const to = Math.ceil(end / SECTOR);
    const length = Math.max(this.durable.length, Math.min(to * SECTOR, this.cached.length));
    this.durable = resized(this.durable, length);
    for (let sector = Math.floor(offset / SECTOR); sector < to; sector += 1) {
      if (this.#dirty.delete(sector)) copySector(this.cached, this.durable, sector);
    }
  }

  /** After a write that the disk refused, the system marks some pages clean although they are only in its cache. */
  loseTrack(random: Prng): void {
    this.failures += 1;
    for (const sector of this.#dirty) {
      if (random.chance(0.5)) continue;
      if (random.chance(0.5) && sector * SECTOR < this.durable.length) copySector(this.cached, this.durable, sector);
      this.#dirty.delete(sector);
    }
  }

  /** Loses power and the cache. Any part of what was not synced may be there, sector by sector. */
  loseCache(random: Prng): void {
    const lengths = [this.cached.length, this.durable.length];
    const length = random.chance(0.2)
      ? Math.min(...lengths) + random.below(Math.abs(this.cached.length - this.durable.length) + 1)
      : random.pick(lengths);
    const after = new Uint8Array(length);
    after.set(this.durable.subarray(0, length));
    for (const sector of this.#dirty) if (random.chance(0.5)) copySector(this.cached, after, sector);
    this.replace(after);
  }

  /** Sets the bytes as if the disk had always had them. */
  replace(bytes: Uint8Array): void {
    this.cached = bytes.slice();
    this.durable = bytes.slice();
    this.#dirty.clear();
  }
}

function resized(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length === length) return bytes;
  const after = new Uint8Array(length);
  after.set(bytes.subarray(0, length));
  return after;
}

/** Copies the part of the sector that both have. */
function copySector(from: Uint8Array, to: Uint8Array, sector: number): void {
  const start = sector * SECTOR;
  if (start >= to.length) return;
  to.set(from.subarray(start, Math.min(start + SECTOR, to.length)), start);
}

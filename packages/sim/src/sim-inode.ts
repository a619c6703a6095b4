import type { Prng } from './prng.ts';

/** Smaller than the sector of any disk. The file remembers what was written in pieces of this size. */
const SECTOR = 64;
/** A loss of power keeps or loses bytes in pages of one of these sizes: less than a sector, a sector, a page. */
const PAGE_BYTES = [SECTOR, 512, 4096];

/** What a sector held after a write that is not durable. Writes of a file are numbered in their order. */
interface SectorWrite {
  readonly at: number;
  readonly bytes: Uint8Array;
}

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
  /** Sectors whose cached bytes are still to be written, with all that was written to them since they were durable. */
  readonly #dirty = new Map<number, SectorWrite[]>();
  /** Sectors that count as clean, and whose cached bytes are not on the disk. */
  readonly #lost = new Set<number>();
  #writes = 0;

  /** The sectors that a sync which begins now writes. */
  dirtySectors(): readonly number[] {
    return [...this.#dirty.keys()];
  }

  write(bytes: Uint8Array, offset: number): void {
    if (bytes.length === 0) return;
    const end = offset + bytes.length;
    if (end > this.cached.length) this.cached = resized(this.cached, end);
    this.cached.set(bytes, offset);
    this.#note(offset, end);
  }

  /** Bytes that are cut off read as zeros when the file grows again. */
  truncate(length: number): void {
    const before = Math.max(this.cached.length, this.durable.length);
    this.cached = resized(this.cached, length);
    this.#note(length, before);
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
    for (const sector of this.dirtySectors()) {
      if (random.chance(0.5)) continue;
      if (random.chance(0.5) && sector * SECTOR < this.durable.length) copySector(this.cached, this.durable, sector);
      else this.#lost.add(sector);
      this.#dirty.delete(sector);
    }
  }

  /** The system may need its memory: what counts as clean is read from the disk again. So bytes may change between two reads. */
  evict(random: Prng): void {
    if (this.#lost.size === 0 || random.chance(0.5)) return;
    for (const sector of this.#lost) {
      if (random.chance(0.5)) continue;
      this.#lost.delete(sector);
      const start = sector * SECTOR;
      // Cut off by a truncation that the disk refused as well.
      if (start >= this.cached.length) continue;
      const bytes = new Uint8Array(Math.min(SECTOR, this.cached.length - start));
      bytes.set(this.durable.subarray(start, start + bytes.length));
      this.cached.set(bytes, start);
    }
  }

  /**
   * Loses power and the cache. Of what was not synced, each page may be on the disk as it was after any of its writes,
   * or as it was before them, whatever becomes of the other pages.
   */
  loseCache(random: Prng): void {
    const lengths = [this.cached.length, this.durable.length];
    const length = random.chance(0.2)
      ? Math.min(...lengths) + random.below(Math.abs(this.cached.length - this.durable.length) + 1)
      : random.pick(lengths);
    const after = new Uint8Array(length);
    after.set(this.durable.subarray(0, length));
    const sectors = random.pick(PAGE_BYTES) / SECTOR;
    for (const dirty of this.#dirtyPages(sectors)) {
      const writes = [...new Set(dirty.flatMap((sector) => this.#dirty.get(sector)!.map(({ at }) => at)))];
      // The last write is as likely as all states before it.
      const until = random.chance(0.5) ? this.#writes : random.pick([0, ...writes]);
      for (const sector of dirty) {
        const bytes = this.#dirty.get(sector)!.findLast(({ at }) => at <= until)?.bytes;
        if (bytes !== undefined) putSector(bytes, after, sector);
      }
    }
    this.replace(after);
  }

  /** Sets the bytes as if the disk had always had them. */
  replace(bytes: Uint8Array): void {
    this.cached = bytes.slice();
    this.durable = bytes.slice();
    this.#dirty.clear();
    this.#lost.clear();
  }

  #note(from: number, end: number): void {
    this.#writes += 1;
    for (let sector = Math.floor(from / SECTOR); sector * SECTOR < end; sector += 1) {
      const bytes = this.cached.slice(sector * SECTOR, (sector + 1) * SECTOR);
      this.#lost.delete(sector);
      const writes = this.#dirty.get(sector);
      if (writes === undefined) this.#dirty.set(sector, [{ at: this.#writes, bytes }]);
      else writes.push({ at: this.#writes, bytes });
    }
  }

  /** The dirty sectors, those of one page together. */
  #dirtyPages(sectors: number): Iterable<readonly number[]> {
    const pages = new Map<number, number[]>();
    for (const sector of this.#dirty.keys()) {
      const page = Math.floor(sector / sectors);
      const dirty = pages.get(page);
      if (dirty === undefined) pages.set(page, [sector]);
      else dirty.push(sector);
    }
    return pages.values();
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
  putSector(from.subarray(sector * SECTOR, (sector + 1) * SECTOR), to, sector);
}

/** The rest of a sector that ended the file stays as it is. */
function putSector(bytes: Uint8Array, to: Uint8Array, sector: number): void {
  const start = sector * SECTOR;
  if (start >= to.length) return;
  to.set(bytes.subarray(0, to.length - start), start);
}

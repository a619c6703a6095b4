import type { Meta, MetaWrite } from '../src/meta.ts';
import type { BulkReader, FileSystem, OpenMode, Place, StorageFile } from '../src/file-system.ts';
import type { Ground } from '../src/open.ts';
import type { Prng } from './prng.ts';

/** Smaller than any disk's: what is not durable is lost or kept in pieces of this size. */
const SECTOR = 64;

export type Operation = 'open' | 'read' | 'write' | 'write-durable' | 'sync' | 'truncate' | 'names' | 'meta';

/** The nth operation of this kind fails. */
export interface Fault {
  readonly operation: Operation;
  readonly code: 'EIO' | 'ENOSPC';
  readonly after: number;
}

interface Inode {
  /** What programs see. */
  cached: Uint8Array;
  /** What is on the disk. */
  durable: Uint8Array;
  /** Sectors whose cached bytes are still to be written. */
  readonly dirty: Set<number>;
  /** How often writing to the disk has failed: whoever has it open is told once, whoever's bytes they were. */
  failures: number;
}

/** A change of names that no directory sync has made durable. */
type NameChange =
  | { readonly kind: 'create'; readonly path: string; readonly inode: Inode }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string; readonly inode: Inode }
  | { readonly kind: 'remove'; readonly path: string };

/** One run of a program; after its crash none of its operations ends. */
interface Process {
  alive: boolean;
}

export class DiskError extends Error {
  readonly code: string;
  constructor(code: string, what: string) {
    super(`${code}: ${what}`);
    this.code = code;
  }
}

/**
 * A disk in memory that loses what it may lose. Every operation takes its time in several steps, and the process can end
 * between any two of them: killed, then the system still has its cache, or with the power, then of what was not synced
 * any part may be there or not, sector by sector and name by name.
 */
export class CrashDisk {
  readonly #prng: Prng;
  #names = new Map<string, Inode>();
  #durableNames = new Map<string, Inode>();
  #changes: NameChange[] = [];
  readonly #meta = new Map<string, Uint8Array>();
  #process: Process = { alive: false };
  #metaHeld = false;
  #stepsLeft = Number.POSITIVE_INFINITY;
  #stepsLater = 0;
  #manifestWrites: number | undefined;
  #crashKind: 'kill' | 'power' = 'kill';
  #onCrash = (): void => {};
  #fault: Fault | undefined;
  /** Operations that have failed since `arm`. */
  failed = 0;
  steps = 0;

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  /** A new process on this disk. `crashed` resolves when it is no more. */
  start(): { readonly ground: Ground; readonly crashed: Promise<void>; readonly isAlive: () => boolean } {
    const process: Process = { alive: true };
    this.#process = process;
    this.#metaHeld = false;
    this.arm(Number.POSITIVE_INFINITY, 'kill');
    const crashed = new Promise<void>((resolve) => {
      this.#onCrash = resolve;
    });
    return { ground: this.#ground(process), crashed, isAlive: () => process.alive };
  }

  /**
   * From now on: crash after so many steps, where `manifestWrites` is given after so many beginning with that write of
   * the manifest; and this fault.
   */
  arm(stepsLeft: number, kind: 'kill' | 'power', fault?: Fault, manifestWrites?: number): void {
    this.#stepsLeft = manifestWrites === undefined ? stepsLeft : Number.POSITIVE_INFINITY;
    this.#stepsLater = stepsLeft;
    this.#manifestWrites = manifestWrites;
    this.#crashKind = kind;
    this.#fault = fault;
    this.failed = 0;
  }

  crash(kind: 'kill' | 'power'): void {
    if (!this.#process.alive) return;
    this.#process.alive = false;
    if (kind === 'power') this.#losePower();
    this.#onCrash();
  }

  /** As the next process sees it. */
  names(): string[] {
    return [...this.#names.keys()].sort();
  }

  bytes(path: string): Uint8Array | undefined {
    return this.#names.get(path)?.cached;
  }

  /** For damage: as if the disk had it so. */
  setBytes(path: string, bytes: Uint8Array): void {
    const inode = this.#names.get(path)!;
    inode.cached = bytes.slice();
    inode.durable = bytes.slice();
    inode.dirty.clear();
  }

  #losePower(): void {
    const ordered = this.#prng.chance(0.5);
    let kept = this.#prng.below(this.#changes.length + 1);
    for (const change of this.#changes) {
      if (ordered ? kept > 0 : this.#prng.chance(0.5)) this.#apply(this.#durableNames, change);
      kept -= 1;
    }
    this.#changes = [];
    this.#names = new Map(this.#durableNames);
    for (const inode of new Set(this.#names.values())) this.#loseCache(inode);
  }

  #loseCache(inode: Inode): void {
    const { cached, durable, dirty } = inode;
    const lengths = [cached.length, durable.length];
    const length = this.#prng.chance(0.2)
      ? Math.min(...lengths) + this.#prng.below(Math.abs(cached.length - durable.length) + 1)
      : lengths[this.#prng.below(2)]!;
    const after = new Uint8Array(length);
    after.set(durable.subarray(0, length));
    for (const sector of dirty) {
      if (this.#prng.chance(0.5)) copySector(cached, after, sector);
    }
    inode.cached = after;
    inode.durable = after.slice();
    dirty.clear();
  }

  #apply(names: Map<string, Inode>, change: NameChange): void {
    switch (change.kind) {
      case 'create':
        names.set(change.path, change.inode);
        break;
      case 'remove':
        names.delete(change.path);
        break;
      // A name holds a file, not another name: what had the old name before is not what was renamed.
      case 'rename':
        if (names.get(change.from) === change.inode) names.delete(change.from);
        names.set(change.to, change.inode);
    }
  }

  #change(change: NameChange): void {
    this.#apply(this.#names, change);
    this.#changes.push(change);
  }

  /** A moment in which others have their turn, and the process may end. */
  async #step(process: Process): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.steps += 1;
    if (process === this.#process && process.alive) {
      this.#stepsLeft -= 1;
      if (this.#stepsLeft < 0) this.crash(this.#crashKind);
    }
    if (!process.alive) await new Promise<never>(() => {});
  }

  #fails(operation: Operation): DiskError | undefined {
    const fault = this.#fault;
    if (fault === undefined || fault.operation !== operation) return undefined;
    if (fault.after > 0) {
      this.#fault = { ...fault, after: fault.after - 1 };
      return undefined;
    }
    // A full disk stays full; one that cannot read or write a place is another matter.
    if (fault.code === 'EIO') this.#fault = undefined;
    this.failed += 1;
    return new DiskError(fault.code, `injected into ${operation}`);
  }

  #ground(process: Process): Ground {
    return {
      // Whether a write holds up others is nothing to this disk.
      idleMs: () => 0,
      fileSystem: this.#fileSystem(process),
      openMeta: async (path) => {
        await this.#step(process);
        if (this.#metaHeld) throw new DiskError('LOCKED', path);
        this.#metaHeld = true;
        // Made with the database, and durable with its first write, which is the first of all.
        const current = newInode();
        if (!this.#names.has(`${path}/CURRENT`)) {
          this.#names.set(`${path}/CURRENT`, current);
          this.#durableNames.set(`${path}/CURRENT`, current);
        }
        return this.#openMeta(process);
      },
    };
  }

  #openMeta(process: Process): Meta {
    const entries = this.#meta;
    return {
      entries: async () => {
        await this.#step(process);
        const sorted = [...entries].sort(([left], [right]) => (left < right ? -1 : 1));
        return sorted.map(([key, value]) => [new Uint8Array(Buffer.from(key, 'hex')), value.slice()] as const);
      },
      write: async (writes: readonly MetaWrite[]) => {
        const copies = writes.map(({ key, value }) => [Buffer.from(key).toString('hex'), value?.slice()] as const);
        if (this.#manifestWrites !== undefined) {
          if (this.#manifestWrites === 0) this.#stepsLeft = this.#stepsLater;
          this.#manifestWrites -= 1;
        }
        await this.#step(process);
        const error = this.#fails('meta');
        if (error === undefined || this.#prng.chance(0.5)) {
          for (const [key, value] of copies) {
            if (value === undefined) entries.delete(key);
            else entries.set(key, value);
          }
        }
        if (error !== undefined) throw error;
        await this.#step(process);
      },
      close: async () => {
        await this.#step(process);
        this.#metaHeld = false;
      },
    };
  }

  #fileSystem(process: Process): FileSystem {
    const named = async (work: () => void): Promise<void> => {
      await this.#step(process);
      const error = this.#fails('names');
      if (error !== undefined) throw error;
      work();
      await this.#step(process);
    };
    return {
      list: async (directory) => {
        await this.#step(process);
        const children = new Set<string>();
        for (const path of this.#names.keys()) {
          if (path.startsWith(`${directory}/`)) children.add(path.slice(directory.length + 1).split('/')[0]!);
        }
        return [...children];
      },
      makeDirectory: async () => await this.#step(process),
      open: async (path, mode) => {
        await this.#step(process);
        const refused = this.#fails('open');
        if (refused !== undefined) throw refused;
        let inode = this.#names.get(path);
        if (mode === 'create') {
          const error = this.#fails('names');
          if (error !== undefined) throw error;
          if (inode === undefined) {
            inode = newInode();
            this.#change({ kind: 'create', path, inode });
          } else {
            cut(inode, 0);
          }
        }
        if (inode === undefined) throw new DiskError('ENOENT', path);
        return this.#file(process, inode, mode);
      },
      rename: (from, to) =>
        named(() => {
          const inode = this.#names.get(from);
          if (inode !== undefined) this.#change({ kind: 'rename', from, to, inode });
        }),
      remove: (path) =>
        named(() => {
          if (this.#names.has(path)) this.#change({ kind: 'remove', path });
        }),
      syncDirectory: async () => {
        await this.#step(process);
        const error = this.#fails('names');
        if (error !== undefined) throw error;
        const changes = this.#changes.length;
        await this.#step(process);
        for (const change of this.#changes.splice(0, changes)) this.#apply(this.#durableNames, change);
      },
      diskReads: () => 0,
      bulkReader: () => this.#bulkReader(),
    };
  }

  #bulkReader(): BulkReader {
    return {
      ready: true,
      read: async (places: readonly Place[], use) => {
        const parts = await Promise.all(
          places.map(async ({ file, offset, length }) => {
            const bytes = new Uint8Array(length);
            await file.read(bytes, offset);
            return bytes;
          }),
        );
        use(new Uint8Array(Buffer.concat(parts)));
        return 0;
      },
      close: async () => {},
    };
  }

  #file(process: Process, inode: Inode, mode: OpenMode): StorageFile {
    let open = true;
    let told = inode.failures;
    const tell = (): void => {
      if (told === inode.failures) return;
      told = inode.failures;
      throw new DiskError('EIO', 'written bytes were lost');
    };
    const use = async (): Promise<void> => {
      if (!open) throw new DiskError('EBADF', 'the file is closed');
      await this.#step(process);
      // The system knows a file by a number, which may be another's by now.
      if (!open) throw new DiskError('EBADF', 'closed while it is used');
    };
    return {
      size: async () => {
        await use();
        return inode.cached.length;
      },
      read: async (target, offset) => {
        await use();
        const error = this.#fails('read');
        if (error !== undefined) throw error;
        const bytes = inode.cached.subarray(offset, offset + target.length);
        target.set(bytes);
        return bytes.length;
      },
      write: async (bytes, offset) => {
        if (mode === 'read') throw new DiskError('EBADF', 'open for reading');
        const copy = bytes.slice();
        await use();
        const error = this.#fails(mode === 'durable' ? 'write-durable' : 'write');
        const half = this.#prng.below(copy.length + 1);
        put(inode, copy.subarray(0, half), offset);
        if (error !== undefined) {
          if (error.code === 'EIO' && mode === 'durable') {
            this.#loseTrack(inode);
            told = inode.failures;
          }
          throw error;
        }
        await use();
        put(inode, copy.subarray(half), offset + half);
        if (mode !== 'durable') return;
        await use();
        flush(inode, Math.floor(offset / SECTOR), Math.ceil((offset + copy.length) / SECTOR));
        tell();
        await use();
      },
      truncate: async (length) => {
        await use();
        const error = this.#fails('truncate');
        if (error !== undefined) throw error;
        cut(inode, length);
        await use();
      },
      sync: async () => {
        await use();
        const error = this.#fails('sync');
        if (error !== undefined) {
          this.#loseTrack(inode);
          told = inode.failures;
          throw error;
        }
        const sectors = [...inode.dirty];
        await use();
        inode.durable = resized(inode.durable, inode.cached.length);
        for (const sector of sectors) {
          copySector(inode.cached, inode.durable, sector);
          inode.dirty.delete(sector);
        }
        tell();
        await use();
      },
      close: async () => {
        if (!open) throw new DiskError('EBADF', 'closed twice');
        open = false;
        await this.#step(process);
      },
    };
  }

  /** After a write that the disk refused the system calls its pages clean: they are in its cache, and nowhere else. */
  #loseTrack(inode: Inode): void {
    inode.failures += 1;
    for (const sector of inode.dirty) {
      if (this.#prng.chance(0.5)) continue;
      if (this.#prng.chance(0.5) && sector * SECTOR < inode.durable.length) {
        copySector(inode.cached, inode.durable, sector);
      }
      inode.dirty.delete(sector);
    }
  }
}

function newInode(): Inode {
  return { cached: new Uint8Array(0), durable: new Uint8Array(0), dirty: new Set(), failures: 0 };
}

function put(inode: Inode, bytes: Uint8Array, offset: number): void {
  if (bytes.length === 0) return;
  const end = offset + bytes.length;
  if (end > inode.cached.length) resize(inode, end);
  inode.cached.set(bytes, offset);
  for (let sector = Math.floor(offset / SECTOR); sector * SECTOR < end; sector += 1) inode.dirty.add(sector);
}

function flush(inode: Inode, from: number, to: number): void {
  const length = Math.max(inode.durable.length, Math.min(to * SECTOR, inode.cached.length));
  inode.durable = resized(inode.durable, length);
  for (let sector = from; sector < to; sector += 1) {
    if (!inode.dirty.delete(sector)) continue;
    copySector(inode.cached, inode.durable, sector);
  }
}

/** What is cut off is zeros where the file grows again. */
function cut(inode: Inode, length: number): void {
  const before = Math.max(inode.cached.length, inode.durable.length);
  for (let sector = Math.floor(length / SECTOR); sector * SECTOR < before; sector += 1) inode.dirty.add(sector);
  resize(inode, length);
}

function resize(inode: Inode, length: number): void {
  inode.cached = resized(inode.cached, length);
}

function resized(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length === length) return bytes;
  const after = new Uint8Array(length);
  after.set(bytes.subarray(0, length));
  return after;
}

/** What of it both have. */
function copySector(from: Uint8Array, to: Uint8Array, sector: number): void {
  const start = sector * SECTOR;
  if (start >= to.length) return;
  to.set(from.subarray(start, Math.min(start + SECTOR, to.length)), start);
}

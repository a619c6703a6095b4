import { assert } from '@engram/core';
import type { BulkReader, FileSystem, Ground, OpenMode, ByteRange } from '@engram/storage-segment';
import { DiskError } from './disk-error.ts';
import type { Prng } from './prng.ts';
import { type DatabaseSteps, SimDatabases } from './sim-database.ts';
import { SimDirectory } from './sim-directory.ts';
import { SimFile } from './sim-file.ts';
import type { SimFolder } from './sim-folder.ts';
import type { SimProcess } from './sim-host.ts';

export const diskOperations = [
  'open',
  'read',
  'write',
  'write-durable',
  'sync',
  'truncate',
  'create',
  'rename',
  'remove',
  'mkdir',
  'list',
  'sync-names',
  'meta',
] as const;
export type DiskOperation = (typeof diskOperations)[number];

/** Makes one operation of this kind fail, after `after` operations that succeed. */
export interface DiskFault {
  readonly operation: DiskOperation;
  readonly code: 'EIO' | 'ENOSPC';
  readonly after: number;
}

/** The point at which the process on the disk ends. */
export interface CrashPoint {
  /** The process ends after this many steps of operations. */
  readonly steps: number;
  /** Steps count from this write of the manifest on. If undefined, they count from now on. */
  readonly manifestWrites?: number;
  /** After `kill` the system still has its cache. `power` loses the cache too. */
  readonly kind: CrashKind;
}

export type CrashKind = 'kill' | 'power';

/**
 * A disk in memory that loses all that a real one may lose. Each operation takes time in several steps, and the process
 * can end between any two of them. After a kill the system still has its cache. After a loss of power, any part of what
 * was not synced may be there, page by page and name by name, in any order: see `SimInode` and `SimFolder`.
 */
export class SimDisk {
  readonly directory = new SimDirectory();
  readonly random: Prng;
  readonly #stepMsMax: number;
  readonly #databases = new SimDatabases(this.directory);
  readonly #asked = new Map<DiskOperation, number>();
  #process: SimProcess | undefined;
  #crashPoint: CrashPoint | undefined;
  #stepsLeft = Number.POSITIVE_INFINITY;
  #manifestWritesLeft = Number.POSITIVE_INFINITY;
  #fault: DiskFault | undefined;
  #failed = 0;

  /** A step takes up to `stepMsMax`. */
  constructor(random: Prng, stepMsMax = 1) {
    this.random = random;
    this.#stepMsMax = stepMsMax;
  }

  /** The number of operations that have failed since `arm`. */
  get failed(): number {
    return this.#failed;
  }

  /** The file system and metadata for a storage of this process. No crash and no fault is armed. */
  ground(process: SimProcess): Ground {
    assert(this.#process?.alive !== true, 'two processes at a time on one disk');
    this.#process = process;
    this.#databases.release();
    this.arm(undefined, undefined);
    return {
      // This disk does not simulate writes that delay each other.
      idleMs: () => 0,
      fileSystem: this.#fileSystem(process),
      openMeta: (path, create) => this.#databases.open(path, create, this.#databaseSteps(process)),
    };
  }

  /** From now on, the process ends at this point, and this operation fails. */
  arm(crash: CrashPoint | undefined, fault: DiskFault | undefined): void {
    this.#crashPoint = crash;
    this.#manifestWritesLeft = crash?.manifestWrites ?? Number.POSITIVE_INFINITY;
    this.#stepsLeft =
      crash === undefined || crash.manifestWrites !== undefined ? Number.POSITIVE_INFINITY : crash.steps;
    this.#fault = fault;
    this.#failed = 0;
    this.#asked.clear();
  }

  /** How many operations of this kind were asked for since `arm`. */
  asked(operation: DiskOperation): number {
    return this.#asked.get(operation) ?? 0;
  }

  /** Ends the process now. No effect if it has ended. */
  crash(kind: CrashKind): void {
    if (this.#process?.alive !== true) return;
    this.#process.kill();
    if (kind === 'power') this.directory.losePower(this.random);
  }

  /** Lets other work have its turn. The process may end here, and then the promise never settles. */
  async step(process: SimProcess): Promise<void> {
    await process.delay(this.random.fraction() * this.#stepMsMax);
    this.#stepsLeft -= 1;
    if (this.#stepsLeft < 0 && this.#crashPoint !== undefined) this.crash(this.#crashPoint.kind);
    if (!process.alive) await new Promise<never>(() => {});
  }

  /** The error for this operation, if it fails now. */
  failure(operation: DiskOperation): DiskError | undefined {
    this.#asked.set(operation, this.asked(operation) + 1);
    const fault = this.#fault;
    if (fault === undefined || fault.operation !== operation) return undefined;
    if (fault.after > 0) {
      this.#fault = { ...fault, after: fault.after - 1 };
      return undefined;
    }
    // A full disk stays full. An I/O error occurs once.
    if (fault.code === 'EIO') this.#fault = undefined;
    this.#failed += 1;
    return new DiskError(fault.code, `injected into ${operation}`);
  }

  #check(operation: DiskOperation): void {
    const error = this.failure(operation);
    if (error !== undefined) throw error;
  }

  #databaseSteps(process: SimProcess): DatabaseSteps {
    return {
      step: () => this.step(process),
      begin: () => {
        if (this.#manifestWritesLeft === 0) this.#stepsLeft = this.#crashPoint?.steps ?? Number.POSITIVE_INFINITY;
        this.#manifestWritesLeft -= 1;
        return this.failure('meta');
      },
      isMade: () => this.random.chance(0.5),
    };
  }

  #fileSystem(process: SimProcess): FileSystem {
    const { directory } = this;
    const named = async (operation: DiskOperation, work: () => void): Promise<void> => {
      await this.step(process);
      this.#check(operation);
      work();
      await this.step(process);
    };
    const syncFolder = async (folder: SimFolder): Promise<void> => {
      await this.step(process);
      this.#check('sync-names');
      const changes = folder.undurable;
      await this.step(process);
      folder.sync(changes);
    };
    return {
      list: async (path) => {
        await this.step(process);
        this.#check('list');
        return directory.folder(path).names();
      },
      makeDirectory: async (path) => {
        await this.step(process);
        this.#check('mkdir');
        const folders = directory.makeFolders(path);
        for (const folder of folders.slice(0, -1).reverse()) await syncFolder(folder);
      },
      open: (path, mode) => this.#open(process, path, mode),
      rename: (from, to) => named('rename', () => directory.rename(from, to)),
      remove: (path) => named('remove', () => directory.remove(path)),
      removeDirectory: async (path) => {
        const folder = directory.findFolder(path);
        for (const name of folder?.names() ?? []) await named('remove', () => folder?.remove(name));
        if (folder !== undefined) await named('remove', () => directory.remove(path));
      },
      syncDirectory: (path) => syncFolder(directory.folder(path)),
      diskReads: () => 0,
      bulkReader,
    };
  }

  async #open(process: SimProcess, path: string, mode: OpenMode): Promise<SimFile> {
    await this.step(process);
    this.#check('open');
    let inode = this.directory.find(path);
    if (mode === 'create') {
      this.#check('create');
      if (inode === undefined) inode = this.directory.create(path);
      else inode.truncate(0);
    }
    if (inode === undefined) throw new DiskError('ENOENT', path);
    return new SimFile(this, process, inode, mode);
  }
}

function bulkReader(): BulkReader {
  return {
    ready: true,
    read: async (places: readonly ByteRange[], use) => {
      const parts = await Promise.all(
        places.map(async ({ file, offset, length }) => {
          const bytes = new Uint8Array(length);
          if ((await file.read(bytes, offset)) < length) throw new DiskError('EIO', 'a read has ended early');
          return bytes;
        }),
      );
      await use(new Uint8Array(Buffer.concat(parts)));
      return 0;
    },
    close: async () => {},
  };
}

import type { CrashKind, SimProcess, SimStorageFaults } from '@engram/sim';
import { type MemoryDisk, MemoryStorage, type Storage } from '@engram/storage';

/** The disk of a node. One process at a time uses it. */
export interface NodeDisk {
  /** The disk for a process, which uses it until it ends. */
  mount(process: SimProcess, faults: SimStorageFaults): MountedDisk;
}

export interface MountedDisk {
  /** Opens the storage, once. Never settles if the process ends before. */
  open(): Promise<Storage>;
  /** Ends the process, if it lives. With `keepAppend`, an append under way arrives where that can be decided. */
  end(kind: CrashKind, keepAppend: boolean): void;
}

/** The storage in memory: a loss of power is as a kill. */
export class MemoryNodeDisk implements NodeDisk {
  readonly #disk: MemoryDisk;

  constructor(disk: MemoryDisk) {
    this.#disk = disk;
  }

  mount(process: SimProcess, faults: SimStorageFaults): MountedDisk {
    const storage = new MemoryStorage(faults, this.#disk);
    return {
      open: async () => storage,
      end: (_kind, keepAppend) => {
        storage.crash(keepAppend);
        process.kill();
      },
    };
  }
}

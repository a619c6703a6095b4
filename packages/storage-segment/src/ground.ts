import type { FileSystem } from './disk/file-system.ts';
import { openLevelMeta } from './manifest/level-meta.ts';
import type { Meta } from './manifest/meta.ts';
import { nodeFileSystem, unsyncedFileSystem } from './disk/node-file-system.ts';

/** The system below the storage. */
export interface Ground {
  readonly fileSystem: FileSystem;
  /**
   * Whether zeros are written ahead of appends. They halve the time of a write that waits for the disk. If writes do
   * not wait for the disk, they only cost.
   */
  readonly reserves?: boolean;
  /**
   * Opens a manifest's database and holds it exclusively. With `create` it and its directory are made if they are
   * missing; a loss of power meanwhile may leave a database that cannot be opened.
   */
  openMeta(path: string, create: boolean): Promise<Meta>;
  /** How long the process has been idle since it began. */
  idleMs(): number;
}

export const nodeGround: Ground = {
  fileSystem: nodeFileSystem,
  openMeta: openLevelMeta,
  idleMs: () => performance.nodeTiming.idleTime,
};

export const unsyncedGround: Ground = {
  fileSystem: unsyncedFileSystem,
  reserves: false,
  openMeta: (path, create) => openLevelMeta(path, create, false),
  idleMs: nodeGround.idleMs,
};

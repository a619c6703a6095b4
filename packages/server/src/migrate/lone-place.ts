import { rmSync } from 'node:fs';
import type { NodeConfig } from '../config/node-config.ts';
import { NewDataDirectory } from '../restore/new-data-directory.ts';
import { ownFolder, unfinishedFolder } from '../start/data-directory.ts';
import {
  type MigrationMark,
  readMigrationMark,
  removeMigrationMark,
  writeMigrationMark,
} from '../start/migration-mark.ts';
import type { FollowedSource, MigrationPlace, PlaceParts } from './migration-place.ts';
import { takeSnapshot } from './take-snapshot.ts';

/** The data directory of a node that is alone. */
export class LonePlace implements MigrationPlace {
  readonly #dataDir: string;
  readonly #discardUnfinished: boolean;
  readonly #parts: PlaceParts;

  constructor({ dataDir, discardUnfinished }: NodeConfig, parts: PlaceParts) {
    this.#dataDir = dataDir;
    this.#discardUnfinished = discardUnfinished;
    this.#parts = parts;
  }

  async followed(): Promise<MigrationMark | undefined> {
    return readMigrationMark(ownFolder(this.#dataDir));
  }

  /** Rejects with ConfigError if the directory is not empty, and with what a restore rejects with. */
  async found(etcd: FollowedSource): Promise<void> {
    const { logger, signal } = this.#parts;
    if (this.#discardUnfinished) rmSync(unfinishedFolder(this.#dataDir), { recursive: true, force: true });
    await using directory = NewDataDirectory.make(this.#dataDir);
    const { revision, keys, leases } = await takeSnapshot(directory.path, etcd, this.#parts);
    // An answer of the etcd has told its cluster, which a snapshot does not.
    writeMigrationMark(directory.path, { clusterId: etcd.client.clusterId!, from: etcd.from });
    signal.throwIfAborted();
    await directory.keep();
    logger.info({ revision, keys, leases }, 'founded a store from the snapshot');
  }

  /** Only this process changes it. Asked of the file, it would be seen gone before it is gone for good. */
  async isThere(): Promise<boolean> {
    return true;
  }

  async remove(): Promise<void> {
    await removeMigrationMark(ownFolder(this.#dataDir));
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

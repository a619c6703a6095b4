import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Logger, Random } from '@engram/core';
import type { EtcdClient, EtcdSource } from '@engram/migration';
import { NewDataDirectory } from '../restore/new-data-directory.ts';
import { ReadProgress, type Terminal } from '../restore/read-progress.ts';
import { importInto, openDatabase } from '../restore/restore-snapshot.ts';
import { SnapshotFile } from '../restore/snapshot-file.ts';
import { segmentFolder } from '../start/data-directory.ts';
import { writeMigrationMark } from '../start/migration-mark.ts';

export interface FoundingParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly terminal: Terminal;
  /** Ends the work. Nothing of it is left then. */
  readonly signal: AbortSignal;
}

const WHOLE = { skipHashCheck: false, dropAuth: false, bumpRevision: 0 };

/**
 * Makes a data directory from a snapshot of the etcd, with the mark that the store follows it. Durable when this resolves; whatever
 * fails before, a start finds no store. Rejects with ConfigError if the directory is not empty, and with what a restore rejects with.
 */
export async function foundFromEtcd(
  dataDir: string,
  from: readonly string[],
  { client, source }: { readonly client: EtcdClient; readonly source: EtcdSource },
  parts: FoundingParts,
): Promise<void> {
  const { clock, logger, terminal, signal } = parts;
  await using directory = NewDataDirectory.make(dataDir);
  const path = join(directory.path, 'snapshot.db');
  // Its answer tells the cluster, which a snapshot does not.
  const newest = await source.revision(signal);
  logger.info({ endpoint: client.endpoint, revision: newest }, 'takes a snapshot of the etcd to follow');
  await save(source, path, signal);
  const report = await importFile(path, segmentFolder(directory.path), {
    clock,
    logger,
    random: parts.random,
    terminal,
    signal,
  });
  rmSync(path);
  writeMigrationMark(directory.path, { clusterId: client.clusterId!, from });
  signal.throwIfAborted();
  await directory.keep();
  logger.info(
    { revision: report.revision, keys: report.keys, leases: report.leases },
    'founded a store from the snapshot',
  );
}

async function importFile(path: string, folder: string, parts: FoundingParts): ReturnType<typeof importInto> {
  using file = SnapshotFile.open(path);
  using progress = new ReadProgress(file, parts.terminal, () => parts.clock.nowMs());
  const database = await openDatabase(progress, WHOLE, parts.signal);
  return await importInto(folder, database, progress, WHOLE, parts);
}

async function save(source: EtcdSource, path: string, signal: AbortSignal): Promise<void> {
  const fd = openSync(path, 'wx', 0o600);
  try {
    for await (const blob of source.snapshot(signal)) {
      for (let at = 0; at < blob.length; ) at += writeSync(fd, blob, at);
    }
  } finally {
    closeSync(fd);
  }
}

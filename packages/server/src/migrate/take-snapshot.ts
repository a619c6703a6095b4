import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ImportReport } from '@engram/importer';
import type { EtcdSource } from '@engram/migration';
import { ReadProgress } from '../restore/read-progress.ts';
import { importInto, openDatabase } from '../restore/restore-snapshot.ts';
import { SnapshotFile } from '../restore/snapshot-file.ts';
import { segmentFolder } from '../start/data-directory.ts';
import type { FollowedSource, PlaceParts } from './migration-place.ts';

const WHOLE = { skipHashCheck: false, dropAuth: false, bumpRevision: 0 };

/** Fills segments below this folder with a snapshot of the etcd. Rejects as a restore does. */
export async function takeSnapshot(
  folder: string,
  { client, source }: FollowedSource,
  parts: PlaceParts,
): Promise<ImportReport> {
  const { clock, logger, terminal, signal } = parts;
  const path = join(folder, 'snapshot.db');
  const newest = await source.revision(signal);
  logger.info({ endpoint: client.endpoint, revision: newest }, 'takes a snapshot of the etcd to follow');
  await save(source, path, signal);
  using file = SnapshotFile.open(path);
  using progress = new ReadProgress(file, terminal, () => clock.nowMs());
  const database = await openDatabase(progress, WHOLE, signal);
  const report = await importInto(segmentFolder(folder), database, progress, WHOLE, parts);
  rmSync(path);
  signal.throwIfAborted();
  return report;
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

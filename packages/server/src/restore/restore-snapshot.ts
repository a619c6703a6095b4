import type { Clock, Logger, Random } from '@engram/core';
import { EtcdDatabase, type ImportReport, importDatabase } from '@engram/importer';
import { openSegmentStorage } from '@engram/storage-segment';
import type { RestoreConfig } from '../config/restore-config.ts';
import { segmentFolder } from '../start/data-directory.ts';
import { ETCD_VERSION } from '../version.ts';
import { checkEmptyDirectory, NewDataDirectory } from './new-data-directory.ts';
import { ReadProgress, type Terminal } from './read-progress.ts';
import { SnapshotFile } from './snapshot-file.ts';
import type { TikvTarget } from './tikv-target.ts';

export interface RestoreParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly terminal: Terminal;
  /** Ends the work. Nothing of it is left then. */
  readonly signal: AbortSignal;
}

/**
 * Makes a data directory, or the store of a cluster in TiKV, from a snapshot. Durable when this resolves, with what `engram restore`
 * prints. Whatever fails before, a start finds no store. Rejects with ConfigError, ImportError, BboltError or the storage's errors.
 */
export async function restoreSnapshot(config: RestoreConfig, parts: RestoreParts): Promise<string> {
  const { clock, terminal, signal } = parts;
  checkEmptyDirectory(config.dataDir);
  using file = SnapshotFile.open(config.snapshot);
  using progress = new ReadProgress(file, terminal, () => clock.nowMs());
  const opened = await openDatabase(progress, config, signal);
  await using target = await targetOf(config, parts);
  await using directory = NewDataDirectory.make(config.dataDir);
  const report = await importInto(segmentFolder(directory.path), opened, progress, config, parts);
  file.checkUnchanged();
  signal.throwIfAborted();
  if (target === undefined) await directory.keep();
  else {
    progress.begin('writing');
    await target.fill(segmentFolder(directory.path), (bytes) => progress.passed(bytes));
  }
  return reportText(config, opened, report);
}

/** What of a file is taken. */
type TakenParts = Pick<RestoreConfig, 'skipHashCheck' | 'dropAuth' | 'bumpRevision'>;

/** Reads and checks all but the versions. */
export async function openDatabase(
  progress: ReadProgress,
  { skipHashCheck, dropAuth }: TakenParts,
  signal: AbortSignal,
): Promise<EtcdDatabase> {
  progress.begin('verifying');
  const versionMax = ETCD_VERSION.replace(/\.\d+$/, '');
  return await EtcdDatabase.open(progress, { skipHashCheck, dropAuth, versionMax, signal });
}

/** Fills segments in a new folder. */
export async function importInto(
  folder: string,
  database: EtcdDatabase,
  progress: ReadProgress,
  { bumpRevision }: TakenParts,
  { clock, random, logger, signal }: Omit<RestoreParts, 'terminal'>,
): Promise<ImportReport> {
  progress.begin('restoring');
  await using storage = await openSegmentStorage({ path: folder, clock, random, logger });
  return await importDatabase(database, storage, { bumpRevision, signal });
}

/** The client of TiKV is loaded where it is needed only. Looked at before the work: the prefix may not be free. */
async function targetOf({ cluster }: RestoreConfig, parts: RestoreParts): Promise<TikvTarget | undefined> {
  if (cluster === undefined) return undefined;
  const { TikvTarget: Target } = await import('./tikv-target.ts');
  return await Target.open(cluster, parts);
}

const placeText = ({ dataDir, cluster }: RestoreConfig): string =>
  cluster === undefined
    ? dataDir
    : `the prefix ${JSON.stringify(cluster.prefix)} of TiKV, for ${cluster.members.map(({ name }) => name).join(', ')}`;

function reportText(config: RestoreConfig, { bytes, state }: EtcdDatabase, report: ImportReport): string {
  const lines: readonly (readonly [name: string, value: string | number])[] = [
    ['hash', report.hash],
    ['revision', report.revision],
    ['total keys', report.keys],
    ['total size', bytes],
    ['storage version', state.storageVersion ?? ''],
    ['compact revision', report.compactRevision],
    ['versions', report.versions],
    ['leases', report.leases],
    ['alarms', report.alarms],
    ['users', report.users],
    ['roles', report.roles],
  ];
  const notes = [
    ...(report.keysWithoutLease === 0
      ? []
      : [
          `${report.keysWithoutLease} keys name a lease that is not in the snapshot: they do not end with it, as in etcd`,
        ]),
  ];
  return [
    `restored ${config.snapshot} into ${placeText(config)}`,
    ...lines.map(([name, value]) => `${`${name}:`.padEnd(18)}${value}`.trimEnd()),
    ...notes,
    '',
  ].join('\n');
}

import { encodeAuthState } from '@engram/auth';
import type { BucketEntry } from '@engram/bbolt';
import { assert, type LogPosition, NO_REVISION, type Revision, revision } from '@engram/core';
import { KeyIndex } from '@engram/index';
import type { Storage } from '@engram/storage';
import { importedCheckpoint } from './imported-checkpoint.ts';
import type { EtcdDatabase } from './etcd-database.ts';
import { History } from './history.ts';
import { ImportError } from './import-error.ts';
import { LogFiller } from './log-filler.ts';
import { StatusHash } from './status-hash.ts';

export interface ImportOptions {
  /**
   * How far the revision goes up, as etcdutl's --bump-revision with --mark-compacted: all revisions before the new one
   * count as compacted. 0 leaves it as it is.
   */
  readonly bumpRevision: number;
  readonly signal: AbortSignal;
}

/** What a storage has been given. */
export interface ImportReport {
  /** Of the whole database, as `etcdutl snapshot status` shows it. */
  readonly hash: string;
  readonly revision: Revision;
  /** NO_REVISION if nothing was compacted. */
  readonly compactRevision: Revision;
  /** Living keys. */
  readonly keys: number;
  readonly versions: number;
  readonly leases: number;
  readonly alarms: number;
  readonly users: number;
  readonly roles: number;
  /** Keys whose lease is not in the database. As in an etcd that starts on it, they do not end with it. */
  readonly keysWithoutLease: number;
}

/**
 * Fills an empty storage: a record for each version, in the order of the history, and a checkpoint behind the last one.
 * The storage is a whole store when this resolves, and not before. Memory: the index of what is kept, as a node has it, 8
 * bytes for each version that the compaction drops, the buckets of `state`, two batches and a run of pages of the file. Rejects
 * with ImportError or BboltError if the file is not to be taken, and with what the storage rejects with.
 */
export async function importDatabase(
  database: EtcdDatabase,
  storage: Storage,
  { bumpRevision, signal }: ImportOptions,
): Promise<ImportReport> {
  const { state } = database;
  const index = new KeyIndex();
  const history = new History(index, state.compactRevision);
  const hash = new StatusHash();
  const garbage: LogPosition[] = [];
  const log = new LogFiller(storage.log);
  /** Drops what the compaction drops, so that the index never holds much more than what is kept. */
  const compact = (upTo: number): void => {
    if (upTo > 0) index.compact(revision(upTo), Number.POSITIVE_INFINITY, garbage);
  };
  const keptFrom = bumpRevision > 0 ? Number.POSITIVE_INFINITY : state.compactRevision;

  const takePage = async (entries: readonly BucketEntry[]): Promise<void> => {
    for (const entry of entries) {
      hash.update(entry.key);
      hash.update(entry.value);
      const record = history.take(entry);
      if (record === undefined) continue;
      log.add(record);
      if (!log.full) continue;
      await log.append();
      compact(Math.min(keptFrom, history.at - 1));
    }
  };
  for (const bucket of database.buckets(signal)) {
    hash.update(Buffer.from(bucket.name, 'latin1'));
    if (bucket.kind === 'versions') for await (const page of bucket.pages) await takePage(page);
    else
      for (const { key, value } of bucket.entries) {
        hash.update(key);
        hash.update(value);
      }
  }
  await log.flush();

  const newest = history.revision + bumpRevision;
  if (!Number.isSafeInteger(newest)) throw new ImportError('too-large', `no revision may be as large as ${newest}`);
  const compactRevision = bumpRevision > 0 ? revision(newest) : state.compactRevision;
  compact(compactRevision);
  assert(log.next === history.next, 'the log has not the records of the history');
  const header = {
    revision: revision(newest),
    compactRevision,
    nextPosition: log.next,
    leases: [...state.leases.values()],
    alarms: state.alarms,
    auth: encodeAuthState(state.auth),
  };
  const counts = { keysWithoutLease: 0 };
  const chunks = importedCheckpoint({ header, index, garbage, leases: state.leases, counts, signal });
  await storage.values.saveCheckpoint(log.next, chunks);
  return {
    hash: hash.text,
    revision: header.revision,
    compactRevision: compactRevision > 0 ? compactRevision : NO_REVISION,
    keys: index.liveKeys,
    versions: index.versions,
    leases: state.leases.size,
    alarms: state.alarms.length,
    users: state.auth.users.rows.length,
    roles: state.auth.roles.rows.length,
    keysWithoutLease: counts.keysWithoutLease,
  };
}

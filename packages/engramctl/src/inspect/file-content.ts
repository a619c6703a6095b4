import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BboltError, type BucketEntry, type ByteSource } from '@engram/bbolt';
import { EtcdDatabase, ImportError, versionKey } from '@engram/importer';
import { mvccpb, WireError } from '@engram/wire';
import { CtlError, messageOf } from '../cli/ctl-error.ts';
import { API_VERSION } from '../version.ts';
import { historyContent, type Version } from './history-content.ts';
import type { StoreContent } from './stored-key.ts';

/** Where a data directory of etcd has its database. */
const DATABASE = 'member/snap/db';

/** What a path leads to. */
type Found =
  /** A file in etcd's format, and whether it may be without a hash. */
  | { readonly kind: 'database'; readonly path: string; readonly skipHashCheck: boolean }
  /** A data directory of Engram. */
  | { readonly kind: 'directory'; readonly path: string };

/** Throws CtlError bad-arguments. */
export function whatIsAt(path: string, skipHashCheck: boolean): Found {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new CtlError('bad-arguments', `there is no file ${path}`);
  if (!stats.isDirectory()) return { kind: 'database', path, skipHashCheck };
  const database = join(path, DATABASE);
  if (existsSync(database)) return { kind: 'database', path: database, skipHashCheck: true };
  if (existsSync(join(path, 'engram'))) return { kind: 'directory', path };
  throw new CtlError('bad-arguments', `${path} is no data directory: it has neither ${DATABASE} nor engram`);
}

/**
 * The content of a snapshot of etcd's or Engram's, or of the database of a data directory. Held are what `historyContent` and
 * `EtcdDatabase` hold. Rejects with CtlError invalid-input if the file is not to be taken.
 */
export async function fileContent(
  name: string,
  file: ByteSource,
  {
    prefix,
    skipHashCheck,
    signal,
  }: { readonly prefix: Uint8Array; readonly skipHashCheck: boolean; readonly signal: AbortSignal },
): Promise<StoreContent> {
  const open = (skip: boolean): Promise<EtcdDatabase> =>
    refused(name, () =>
      EtcdDatabase.open(file, { skipHashCheck: skip, dropAuth: true, versionMax: API_VERSION, signal }),
    );
  const checked = await open(skipHashCheck);
  let unread: EtcdDatabase | undefined = checked;
  async function* pages(): AsyncGenerator<readonly Version[]> {
    const database = unread ?? (await open(true));
    unread = undefined;
    yield* versionsOf(name, database, signal);
  }
  return await historyContent(name, { compactRevision: Number(checked.state.compactRevision), pages }, prefix);
}

async function* versionsOf(
  name: string,
  database: EtcdDatabase,
  signal: AbortSignal,
): AsyncGenerator<readonly Version[]> {
  const pages = entriesOf(database, signal);
  for (;;) {
    const page = await refused(name, () => pages.next());
    if (page.done === true) return;
    const entries = page.value;
    yield await refused(name, async () => entries.flatMap((entry) => versionOf(entry) ?? []));
  }
}

async function* entriesOf(database: EtcdDatabase, signal: AbortSignal): AsyncGenerator<readonly BucketEntry[]> {
  for (const bucket of database.buckets(signal)) {
    if (bucket.kind === 'versions') yield* bucket.pages;
  }
}

/** Undefined for an entry that holds a revision alone, as `etcdutl snapshot restore --bump-revision` writes it. */
function versionOf({ key: place, value }: BucketEntry): Version | undefined {
  const { main, tombstone } = versionKey(place);
  if (value.length === 0) return undefined;
  try {
    return { kv: mvccpb.decodeKeyValue(value), modRevision: main, tombstone };
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    throw new ImportError('damaged', `the value at revision ${main} is no KeyValue`, { cause });
  }
}

async function refused<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof ImportError || cause instanceof BboltError)) throw cause;
    throw new CtlError('invalid-input', `${name}: ${messageOf(cause)}`, { cause });
  }
}

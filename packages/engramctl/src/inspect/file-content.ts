import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BboltError, type BucketEntry, type ByteSource } from '@engram/bbolt';
import { EtcdDatabase, ImportError, versionKey } from '@engram/importer';
import { mvccpb, WireError } from '@engram/wire';
import { CtlError, messageOf } from '../cli/ctl-error.ts';
import { API_VERSION } from '../version.ts';
import { NewestVersions } from './newest-versions.ts';
import type { OldVersion, StoreContent, StoredKey, StoredPage } from './stored-key.ts';

/** Where a data directory of etcd has its database. */
const DATABASE = 'member/snap/db';

/** The file behind a path, and whether it may be without a hash. Throws CtlError bad-arguments or bad-feature. */
export function contentFile(
  path: string,
  skipHashCheck: boolean,
): { readonly path: string; readonly skipHashCheck: boolean } {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new CtlError('bad-arguments', `there is no file ${path}`);
  if (!stats.isDirectory()) return { path, skipHashCheck };
  const database = join(path, DATABASE);
  if (existsSync(database)) return { path: database, skipHashCheck: true };
  if (existsSync(join(path, 'engram'))) {
    throw new CtlError(
      'bad-feature',
      `${path} is a data directory of Engram, whose files only a node reads, when it starts: inspect that node (--endpoints), or a snapshot of it (etcdctl snapshot save)`,
    );
  }
  throw new CtlError('bad-arguments', `${path} is no data directory: it has neither ${DATABASE} nor engram`);
}

/**
 * The keys in a snapshot of etcd's or Engram's, or in the database of a data directory, that begin with the prefix; with them what
 * the history keeps beside. The file is read twice. Held are a page of it, 24 to 48 bytes for each key, and what `EtcdDatabase`
 * holds. Rejects with CtlError invalid-input if the file is not to be taken.
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
  const newest = new NewestVersions();
  let revision = 1;
  const open = (skip: boolean): Promise<EtcdDatabase> =>
    EtcdDatabase.open(file, { skipHashCheck: skip, dropAuth: true, versionMax: API_VERSION, signal });
  return await refused(name, async () => {
    const database = await open(skipHashCheck);
    for await (const { key, main, at } of versionsOf(database, signal)) {
      revision = Math.max(revision, main);
      if (!newest.note(key, at)) throw new ImportError('too-large', 'more keys than can be told apart here');
    }
    const compactRevision = Number(database.state.compactRevision);
    return {
      name,
      revision: Math.max(revision, compactRevision),
      compactRevision: compactRevision > 0 ? compactRevision : undefined,
      pages: pagesOf(name, () => open(true), newest, prefix, signal),
    };
  });
}

interface Version {
  readonly key: Uint8Array;
  readonly kv: mvccpb.KeyValue;
  readonly main: number;
  readonly tombstone: boolean;
  /** The number of the entry in the file. */
  readonly at: number;
}

async function* pagesOf(
  name: string,
  open: () => Promise<EtcdDatabase>,
  newest: NewestVersions,
  prefix: Uint8Array,
  signal: AbortSignal,
): AsyncGenerator<StoredPage> {
  const database = await refused(name, open);
  const pages = pagesWithin(database, newest, prefix, signal);
  for (;;) {
    const page = await refused(name, () => pages.next());
    if (page.done === true) return;
    yield page.value;
  }
}

async function* pagesWithin(
  database: EtcdDatabase,
  newest: NewestVersions,
  prefix: Uint8Array,
  signal: AbortSignal,
): AsyncGenerator<StoredPage> {
  let at = 0;
  for await (const entries of entriesOf(database, signal)) {
    const keys: StoredKey[] = [];
    const old: OldVersion[] = [];
    for (const entry of entries) {
      const version = versionOf(entry, at);
      at += 1;
      if (version === undefined || Buffer.compare(version.key.subarray(0, prefix.length), prefix) !== 0) continue;
      const { key, kv, tombstone } = version;
      if (!tombstone && newest.isNewest(key, version.at)) keys.push(kv);
      else old.push({ key, valueBytes: kv.value.length, deletion: tombstone });
    }
    yield { keys, old };
  }
}

async function* versionsOf(database: EtcdDatabase, signal: AbortSignal): AsyncGenerator<Version> {
  let at = 0;
  for await (const entries of entriesOf(database, signal)) {
    for (const entry of entries) {
      const version = versionOf(entry, at);
      at += 1;
      if (version !== undefined) yield version;
    }
  }
}

async function* entriesOf(database: EtcdDatabase, signal: AbortSignal): AsyncGenerator<readonly BucketEntry[]> {
  for (const bucket of database.buckets(signal)) {
    if (bucket.kind === 'versions') yield* bucket.pages;
  }
}

/** Undefined for an entry that holds a revision alone, as `etcdutl snapshot restore --bump-revision` writes it. */
function versionOf({ key: place, value }: BucketEntry, at: number): Version | undefined {
  const { main, tombstone } = versionKey(place);
  if (value.length === 0) return undefined;
  try {
    const kv = mvccpb.decodeKeyValue(value);
    return { key: kv.key, kv, main, tombstone, at };
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

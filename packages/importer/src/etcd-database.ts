import { BboltReader, type BucketEntry, type ByteSource } from '@engram/bbolt';
import { utf8 } from '@engram/core';
import { ImportError } from './import-error.ts';
import { checkBuckets, type Entries, KEY_BUCKET, type StoreState, storeState } from './store-state.ts';
import { databaseIn } from './trailer.ts';

export interface EtcdDatabaseOptions {
  /** As etcdutl's flag: takes a file without a hash, as a data directory has it, and does not look at a hash. */
  readonly skipHashCheck: boolean;
  /** Users and roles are left out, and not looked at. */
  readonly dropAuth: boolean;
  /** The newest version of etcd whose data is known: "3.7". */
  readonly versionMax: string;
  readonly signal: AbortSignal;
}

/** The memory of all buckets but `key`. A million leases take 60 MB. */
const STATE_BYTES_MAX = 512 << 20;
/** What an entry takes beside its bytes. */
const ENTRY_BYTES = 200;

/** A bucket in the order of the file. */
export type Bucket =
  | { readonly kind: 'state'; readonly name: string; readonly entries: Entries }
  | { readonly kind: 'versions'; readonly name: string; readonly pages: AsyncIterable<readonly BucketEntry[]> };

/**
 * A database of etcd's: a snapshot, or the file `member/snap/db` of a data directory that no etcd has open. Everything
 * but the versions of keys has been read, and checked.
 */
export class EtcdDatabase {
  /** Bytes of the database, without the hash. */
  readonly bytes: number;
  readonly state: StoreState;
  readonly #reader: BboltReader;
  readonly #buckets: ReadonlyMap<string, Entries>;

  private constructor(bytes: number, reader: BboltReader, buckets: ReadonlyMap<string, Entries>, state: StoreState) {
    this.bytes = bytes;
    this.state = state;
    this.#reader = reader;
    this.#buckets = buckets;
  }

  /**
   * Rejects with ImportError or BboltError if the file is not to be taken, with the source's error, or with the signal's
   * reason.
   */
  static async open(file: ByteSource, options: EtcdDatabaseOptions): Promise<EtcdDatabase> {
    const { skipHashCheck, dropAuth, versionMax, signal } = options;
    const source = await databaseIn(file, skipHashCheck, signal);
    const reader = await BboltReader.open(source, signal);
    const names = reader.names.map((name) => Buffer.from(name).toString('latin1'));
    checkBuckets(names);
    const buckets = await stateBuckets(reader, names, signal);
    const state = storeState(buckets, dropAuth);
    checkVersion(state, versionMax);
    return new EtcdDatabase(source.bytes, reader, buckets, state);
  }

  /** The buckets in the order of their names. May be called once. */
  *buckets(signal: AbortSignal): Generator<Bucket> {
    for (const bytes of this.#reader.names) {
      const name = Buffer.from(bytes).toString('latin1');
      const entries = this.#buckets.get(name);
      if (entries !== undefined) yield { kind: 'state', name, entries };
      else yield { kind: 'versions', name, pages: this.#reader.entries(bytes, signal)! };
    }
  }
}

async function stateBuckets(
  reader: BboltReader,
  names: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Entries>> {
  const buckets = new Map<string, Entries>();
  let bytes = 0;
  for (const name of names) {
    if (name === KEY_BUCKET) continue;
    const entries: BucketEntry[] = [];
    for await (const page of reader.entries(utf8(name), signal)!) {
      for (const { key, value } of page) {
        bytes += key.length + value.length + ENTRY_BYTES;
        if (bytes > STATE_BYTES_MAX)
          throw new ImportError('too-large', `the bucket ${name} is above ${STATE_BYTES_MAX} bytes`);
        entries.push({ key, value });
      }
    }
    buckets.set(name, entries);
  }
  return buckets;
}

/** A later etcd may have given the buckets another meaning. One before 3.6 does not say its version. */
function checkVersion({ storageVersion }: StoreState, versionMax: string): void {
  if (storageVersion === undefined) return;
  const [major, minor] = /^(\d+)\.(\d+)(?:\.\d+)?$/.exec(storageVersion)?.slice(1).map(Number) ?? [];
  const [majorMax, minorMax] = versionMax.split('.').map(Number);
  if (major === majorMax && minor! <= minorMax!) return;
  throw new ImportError(
    'foreign-version',
    `the database has the storage version ${JSON.stringify(storageVersion)}, and ${versionMax} is the newest that is known here`,
  );
}

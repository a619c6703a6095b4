import { createHash } from 'node:crypto';
import { bboltFile, type ByteSource, smallBucket } from '@engram/bbolt';
import { bytesSource, unshared } from '@engram/bbolt/testing';
import { encodeKeyValue } from '@engram/coder';
import { leaseId, revision, utf8 } from '@engram/core';
import { EtcdDatabase, type EtcdDatabaseOptions, importDatabase, type ImportReport } from '@engram/importer';
import { MemoryStorage } from '@engram/storage';
import { etcdserverpb, leasepb, mvccpb } from '@engram/wire';

export const never = new AbortController().signal;

export type Entry = readonly [key: Uint8Array, value: Uint8Array];
export type Buckets = Readonly<Record<string, readonly Entry[]>>;

/** The key of a change in etcd's bucket `key`. */
export function at(main: number | bigint, sub = 0, mark = ''): Uint8Array {
  const bytes = Buffer.alloc(17 + mark.length);
  bytes.writeBigUInt64BE(BigInt(main), 0);
  bytes.write('_', 8);
  bytes.writeBigUInt64BE(BigInt(sub), 9);
  bytes.write(mark, 17);
  return bytes;
}

export interface PutFields {
  readonly sub?: number;
  readonly create?: number;
  readonly version?: number;
  readonly value?: string;
  readonly lease?: bigint;
  /** What the KeyValue says, if it is not the revision of the change. */
  readonly mod?: number;
}

export function put(main: number, key: string, fields: PutFields = {}): Entry {
  const { sub = 0, create = main, version = 1, value = `${key}@${main}`, lease = 0n, mod = main } = fields;
  const kv = {
    key: utf8(key),
    createRevision: revision(create),
    modRevision: revision(mod),
    version,
    value: utf8(value),
    lease: leaseId(lease),
  };
  return [at(main, sub), encodeKeyValue(kv)];
}

/** As etcd writes it: the KeyValue has the key alone (server/storage/mvcc/kvstore_txn.go: delete). */
export const removed = (main: number, key: string, sub = 0): Entry => [
  at(main, sub, 't'),
  mvccpb.encodeKeyValue({ key: utf8(key) }),
];

export function lease(id: bigint, TTL: number, RemainingTTL = 0): Entry {
  const key = Buffer.alloc(8);
  key.writeBigInt64BE(id);
  return [key, leasepb.encodeLease({ ID: id, TTL, RemainingTTL })];
}

export const alarm = (memberID: bigint, kind: number): Entry => [
  etcdserverpb.encodeAlarmMember({ memberID, alarm: kind }),
  new Uint8Array(0),
];

export const text = (key: string, value: string | Uint8Array): Entry => [
  utf8(key),
  typeof value === 'string' ? utf8(value) : value,
];

export const EMPTY: Buckets = {
  key: [],
  meta: [],
  lease: [],
  alarm: [],
  auth: [],
  authRoles: [],
  authUsers: [],
  members: [],
};

/** A database with these buckets beside the usual ones, as a data directory has it. */
export async function databaseFile(buckets: Buckets, whole: Buckets = EMPTY): Promise<Buffer> {
  const contents = Object.entries({ ...whole, ...buckets })
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, entries]) => smallBucket(utf8(name), entries));
  const parts: Uint8Array[] = [];
  for await (const part of (await bboltFile(contents, unshared, never)).chunks) parts.push(part);
  return Buffer.concat(parts);
}

/** With the hash behind it, as etcdctl saves it. */
export const hashed = (file: Uint8Array): Buffer => Buffer.concat([file, createHash('sha256').update(file).digest()]);

export const snapshotOf = async (buckets: Buckets): Promise<Buffer> => hashed(await databaseFile(buckets));

export interface RestoreOptions extends Partial<Omit<EtcdDatabaseOptions, 'signal'>> {
  readonly bumpRevision?: number;
}

/** The storage that a file makes, and what is said of it. */
export async function restored(
  file: Uint8Array | ByteSource,
  { bumpRevision = 0, ...options }: RestoreOptions = {},
): Promise<{ readonly storage: MemoryStorage; readonly report: ImportReport }> {
  const source = file instanceof Uint8Array ? bytesSource(file) : file;
  const database = await EtcdDatabase.open(source, {
    skipHashCheck: false,
    dropAuth: false,
    versionMax: '3.7',
    signal: never,
    ...options,
  });
  const storage = new MemoryStorage();
  const report = await importDatabase(database, storage, { bumpRevision, signal: never });
  return { storage, report };
}

import { dirname, join } from 'node:path';
import { type Random, systemErrorCode } from '@engram/core';
import type { FileSystem, StorageFile } from '@engram/storage-segment';

/** A member's identity, for the life of its data. Ids are not 0 and fit in 63 bits, because some tools read them as signed. */
export interface Identity {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  /** Increases at each start. It is the log's epoch, and the Raft term that clients see while the member is alone. */
  readonly startCount: number;
}

const FORMAT = 1;
/** A longer file is damaged. */
const FILE_BYTES_MAX = 1024;
/** A new etcd has won one election, in term 2. */
const FIRST_START = 2;

/**
 * Returns the identity for a new start, made durable: a used count is never used again. The caller holds the data
 * directory's lock. Throws if the file is damaged or belongs to another program. The file is then not overwritten.
 */
export async function nextIdentity(files: FileSystem, file: string, random: Random): Promise<Identity> {
  const before = await readIdentity(files, file);
  const identity: Identity =
    before === undefined
      ? { clusterId: randomId(random), memberId: randomId(random), startCount: FIRST_START }
      : { ...before, startCount: before.startCount + 1 };
  await writeDurably(files, file, `${JSON.stringify({ format: FORMAT, ...texts(identity) })}\n`);
  return identity;
}

export function randomIdentity(random: Random): Identity {
  return { clusterId: randomId(random), memberId: randomId(random), startCount: FIRST_START };
}

function randomId(random: Random): bigint {
  const id = (BigInt(random.uint32() & 0x7fff_ffff) << 32n) | BigInt(random.uint32());
  return id === 0n ? 1n : id;
}

/** The file calls the count `term`. */
const texts = ({ clusterId, memberId, startCount }: Identity): object => ({
  clusterId: clusterId.toString(16),
  memberId: memberId.toString(16),
  term: startCount,
});

async function readIdentity(files: FileSystem, file: string): Promise<Identity | undefined> {
  let opened: StorageFile;
  try {
    opened = await files.open(file, 'read');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const bytes = new Uint8Array(FILE_BYTES_MAX);
  const length = await opened.read(bytes, 0).finally(() => opened.close());
  const identity = parseIdentity(Buffer.from(bytes.subarray(0, length)).toString());
  if (identity === undefined) throw new Error(`${file} is damaged, or was written by a newer version`);
  return identity;
}

function parseIdentity(text: string): Identity | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('format' in value) || value.format !== FORMAT) return undefined;
  if (!('clusterId' in value) || !('memberId' in value) || !('term' in value)) return undefined;
  const { clusterId, memberId, term } = value;
  const id = /^[\da-f]{1,16}$/;
  if (typeof clusterId !== 'string' || typeof memberId !== 'string' || typeof term !== 'number') return undefined;
  if (!id.test(clusterId) || !id.test(memberId) || !Number.isSafeInteger(term) || term < 1) return undefined;
  return { clusterId: BigInt(`0x${clusterId}`), memberId: BigInt(`0x${memberId}`), startCount: term };
}

/** Replaces the whole file. A crash leaves the old one or the new one. */
async function writeDurably(files: FileSystem, file: string, text: string): Promise<void> {
  const directory = dirname(file);
  await files.makeDirectory(directory);
  const temporary = join(directory, 'identity.new');
  const opened = await files.open(temporary, 'create');
  try {
    await opened.write(Buffer.from(text), 0);
    await opened.sync();
  } finally {
    await opened.close();
  }
  await files.rename(temporary, file);
  await files.syncDirectory(directory);
}

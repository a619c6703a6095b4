import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  BboltError,
  BboltReader,
  type BucketEntry,
  bboltFile,
  type ByteSource,
  type SharedTime,
  smallBucket,
} from '@engram/bbolt';

export const never = new AbortController().signal;
export const time: SharedTime = {
  isOver: () => false,
  pause: () => new Promise((resolve) => setImmediate(resolve)),
};

export async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

/** A file that bbolt 1.4.3 itself wrote. testdata/README.md says what it holds. */
export const writtenByBbolt = (name: string): Buffer =>
  gunzipSync(readFileSync(join(import.meta.dirname, '../testdata', `${name}.db.gz`)));

/** A file of this package's writer. */
export async function fileOf(
  buckets: Readonly<Record<string, readonly (readonly [key: string, value: string])[]>>,
): Promise<Buffer> {
  const contents = Object.entries(buckets).map(([name, entries]) =>
    smallBucket(
      Buffer.from(name),
      entries.map(([key, value]) => [Buffer.from(key), Buffer.from(value)]),
    ),
  );
  return joined((await bboltFile(contents, time, never)).chunks);
}

export async function entriesOf(reader: BboltReader, name: string): Promise<readonly BucketEntry[]> {
  const found: BucketEntry[] = [];
  for await (const page of reader.entries(Buffer.from(name), never)!) found.push(...page);
  return found;
}

/** Reads all buckets. The fault instead, if the file is refused; any other error is thrown. */
export async function readAll(source: ByteSource): Promise<ReadonlyMap<string, readonly BucketEntry[]> | BboltError> {
  try {
    const reader = await BboltReader.open(source, never);
    const buckets = new Map<string, readonly BucketEntry[]>();
    for (const name of reader.names) {
      const text = Buffer.from(name).toString('latin1');
      const found: BucketEntry[] = [];
      for await (const page of reader.entries(name, never)!) found.push(...page);
      buckets.set(text, found);
    }
    return buckets;
  } catch (error) {
    if (error instanceof BboltError) return error;
    throw error;
  }
}

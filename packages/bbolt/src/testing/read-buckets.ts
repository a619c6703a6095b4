import { assert } from '@engram/core';
import { BboltReader } from '../bbolt-reader.ts';
import type { ByteSource } from '../byte-source.ts';
import { META_PAGES } from '../format.ts';
import { PAGE_BYTES } from '../page-writer.ts';

const never = new AbortController().signal;

/** A file in memory. `onRead` is told each read before it happens. */
export function bytesSource(file: Uint8Array, onRead = (_offset: number, _bytes: number): void => {}): ByteSource {
  return {
    bytes: file.length,
    read: async (offset, bytes) => {
      onRead(offset, bytes);
      return file.slice(offset, offset + bytes);
    },
  };
}

/**
 * The buckets of a file of this package's writer, by their names. Checks also that nothing else is in the file: both
 * metas are read, and each other byte exactly once.
 */
export async function readBuckets(
  file: Uint8Array,
): Promise<ReadonlyMap<string, readonly (readonly [key: Buffer, value: Buffer])[]>> {
  const read: [offset: number, bytes: number][] = [];
  const source = bytesSource(file, (offset, bytes) => {
    if (offset >= META_PAGES * PAGE_BYTES) read.push([offset, bytes]);
  });
  const reader = await BboltReader.open(source, never);
  const buckets = new Map<string, [Buffer, Buffer][]>();
  for (const name of reader.names) {
    const entries: [Buffer, Buffer][] = [];
    for await (const page of reader.entries(name, never)!) {
      for (const { key, value } of page) entries.push([Buffer.from(key), Buffer.from(value)]);
    }
    buckets.set(Buffer.from(name).toString(), entries);
  }
  let end = META_PAGES * PAGE_BYTES;
  for (const [offset, bytes] of read.toSorted(([left], [right]) => left - right)) {
    assert(offset === end, `byte ${end} of the file is in no page, or in two`);
    end = offset + bytes;
  }
  assert(end === file.length, 'pages at the end of the file are not reached');
  return buckets;
}

import type { ByteList, PagedBytes } from '@engram/core';

/** All versions of a list, brought `step` at a time if it is in pages. The caller disposes of the list. */
export async function readList(kvs: ByteList | PagedBytes, step: number): Promise<readonly Buffer[]> {
  if (!('bring' in kvs)) return [...kvs].map((kv) => Buffer.from(kv));
  const read: Buffer[] = [];
  for (let at = 0, bytes = 0; at < kvs.length; at += step) {
    const end = Math.min(kvs.length, at + step);
    for (let index = at; index < end; index += 1) bytes += kvs.lengthOf(index);
    for (let ready = kvs.bring(at, bytes); ready !== undefined; ready = kvs.bring(at, bytes)) await ready;
    for (let index = at; index < end; index += 1) read.push(Buffer.from(kvs.view(index)));
  }
  return read;
}

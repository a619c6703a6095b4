import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BulkReader, StorageFile } from '../src/disk/file-system.ts';
import { nodeFileSystem } from '../src/disk/node-file-system.ts';

const FILE_BYTES = 1000;

/** A thread, and a file of FILE_BYTES sevens. */
async function withThread(work: (thread: BulkReader, file: StorageFile) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'engram-read-thread-'));
  const path = join(directory, 'file');
  await writeFile(path, new Uint8Array(FILE_BYTES).fill(7));
  const file = await nodeFileSystem.open(path, 'read');
  const thread = nodeFileSystem.bulkReader();
  try {
    await work(thread, file);
  } finally {
    await thread.close();
    await file.close();
    await rm(directory, { recursive: true });
  }
}

test('a close waits for a read that its caller has given up', async () => {
  await withThread(async (thread, file) => {
    const seen: number[] = [];
    const place = { file, offset: 0, length: 2 };
    const order: string[] = [];
    const read = thread.read([place], (bytes) => void seen.push(...bytes)).then(() => order.push('read'));
    await thread.close().then(() => order.push('closed'));
    await read;
    expect(order).toEqual(['read', 'closed']);
    expect(seen).toEqual([7, 7]);
    await expect(thread.read([place], () => {})).rejects.toThrow('has ended');
    expect(thread.ready).toBe(false);
  });
});

test('what a read has not filled is not used: the bytes are of another read', async () => {
  await withThread(async (thread, file) => {
    const lengths: number[] = [];
    const use = (bytes: Uint8Array): void => void lengths.push(bytes.length);
    await thread.read([{ file, offset: 0, length: FILE_BYTES }], use);
    const short = { file, offset: FILE_BYTES - 10, length: 11 };
    await expect(thread.read([{ file, offset: 0, length: 10 }, short], use)).rejects.toThrow('ended early');
    await thread.read([{ file, offset: FILE_BYTES - 10, length: 10 }], use);
    expect(lengths).toEqual([FILE_BYTES, 10]);
  });
});

test('what is being used is not read into', async () => {
  await withThread(async (thread, file) => {
    const used: number[] = [];
    const first = { file, offset: 0, length: 3 };
    await thread.read([first], async (bytes) => {
      for (let more = 0; more < 3; more += 1) await thread.read([first], () => {});
      used.push(...bytes);
    });
    expect(used).toEqual([7, 7, 7]);
  });
});

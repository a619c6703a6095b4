import * as fs from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { assert, systemErrorCode } from '@engram/core';
import type { FileSystem, OpenMode, StorageFile } from './file-system.ts';
import { ReadThread } from './read-thread.ts';

const { O_CREAT, O_DSYNC, O_RDONLY, O_RDWR, O_TRUNC } = fs.constants;
const FLAGS: Readonly<Record<OpenMode, number>> = {
  create: O_RDWR | O_CREAT | O_TRUNC,
  read: O_RDONLY,
  update: O_RDWR,
  durable: O_RDWR | O_DSYNC,
};
/** Why a directory above the storage's cannot be synced: it is not this process's, or of a file system without it. */
const NOT_SYNCABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'EINVAL', 'ENOTSUP']);
/** The system writes at most this much at once. */
const WRITE_BYTES_MAX = 1 << 30;

type Done<Result> = (error: NodeJS.ErrnoException | null, result: Result) => void;

/** Uses the callback forms: an append is one write, and a FileHandle costs as much again as the write. */
function call<Result>(start: (done: Done<Result>) => void): Promise<Result> {
  return new Promise((resolve, reject) => {
    start((error, result) => (error === null ? resolve(result) : reject(error)));
  });
}

class NodeFile implements StorageFile {
  readonly fd: number;
  readonly #syncs: boolean;

  constructor(fd: number, syncs: boolean) {
    this.fd = fd;
    this.#syncs = syncs;
  }

  async size(): Promise<number> {
    return (await call<fs.Stats>((done) => fs.fstat(this.fd, done))).size;
  }

  readNow(target: Uint8Array, offset: number): number {
    let read = 0;
    while (read < target.length) {
      const count = fs.readSync(this.fd, target, read, target.length - read, offset + read);
      if (count === 0) break;
      read += count;
    }
    return read;
  }

  async read(target: Uint8Array, offset: number, inline = false): Promise<number> {
    if (inline) return this.readNow(target, offset);
    let read = 0;
    while (read < target.length) {
      const count = await call<number>((done) =>
        fs.read(this.fd, target, read, target.length - read, offset + read, done),
      );
      if (count === 0) break;
      read += count;
    }
    return read;
  }

  async write(bytes: Uint8Array, offset: number, inline = false): Promise<void> {
    let written = 0;
    while (inline && written < bytes.length) {
      written += fs.writeSync(this.fd, bytes, written, bytes.length - written, offset + written);
    }
    while (written < bytes.length) {
      const length = Math.min(bytes.length - written, WRITE_BYTES_MAX);
      written += await call<number>((done) => fs.write(this.fd, bytes, written, length, offset + written, done));
    }
  }

  truncate(length: number): Promise<void> {
    return call<void>((done) => fs.ftruncate(this.fd, length, (error) => done(error, undefined)));
  }

  async sync(): Promise<void> {
    if (!this.#syncs) return;
    // Data and length only; times do not matter.
    await call<void>((done) => fs.fdatasync(this.fd, (error) => done(error, undefined)));
  }

  close(): Promise<void> {
    return call<void>((done) => fs.close(this.fd, (error) => done(error ?? null, undefined)));
  }
}

export const nodeFileSystem: FileSystem = fileSystem(true);

/** Never waits for the disk. What was written survives the process, but a crash of the machine may lose any of it. */
export const unsyncedFileSystem: FileSystem = fileSystem(false);

function fileSystem(syncs: boolean): FileSystem {
  return {
    list: (directory) => readdir(directory),
    async makeDirectory(directory) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      if (syncs) await syncParents(directory);
    },
    async open(path, mode) {
      const flags = FLAGS[mode === 'durable' && !syncs ? 'update' : mode];
      return new NodeFile(await call<number>((done) => fs.open(path, flags, 0o600, done)), syncs);
    },
    rename,
    remove: (path) => rm(path, { force: true }),
    removeDirectory: (directory) => rm(directory, { force: true, recursive: true }),
    async syncDirectory(directory) {
      if (syncs) await syncDirectory(directory);
    },
    diskReads: () => process.resourceUsage().fsRead,
    bulkReader: () =>
      new ReadThread((file) => {
        assert(file instanceof NodeFile, 'a file of another file system');
        return file.fd;
      }),
  };
}

async function syncDirectory(directory: string): Promise<void> {
  const fd = await call<number>((done) => fs.open(directory, O_RDONLY, done));
  try {
    await call<void>((done) => fs.fsync(fd, (error) => done(error, undefined)));
  } finally {
    await call<void>((done) => fs.close(fd, (error) => done(error, undefined)));
  }
}

/** The name of a directory is in the one above it. Only those that this process may write can hold names that it made. */
async function syncParents(directory: string): Promise<void> {
  for (let path = resolve(directory); path !== dirname(path); path = dirname(path)) {
    try {
      await syncDirectory(dirname(path));
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === undefined || !NOT_SYNCABLE.has(code)) throw error;
    }
  }
}

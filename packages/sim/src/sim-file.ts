import type { OpenMode, StorageFile } from '@engram/storage-segment';
import { DiskError } from './disk-error.ts';
import type { SimDisk } from './sim-disk.ts';
import type { SimProcess } from './sim-host.ts';
import type { SimInode } from './sim-inode.ts';

/** An open file of a simulated disk. */
export class SimFile implements StorageFile {
  readonly #disk: SimDisk;
  readonly #process: SimProcess;
  readonly #inode: SimInode;
  readonly #mode: OpenMode;
  #open = true;
  /** The number of the file's failures that this descriptor has reported. */
  #told: number;

  constructor(disk: SimDisk, process: SimProcess, inode: SimInode, mode: OpenMode) {
    this.#disk = disk;
    this.#process = process;
    this.#inode = inode;
    this.#mode = mode;
    this.#told = inode.failures;
  }

  async size(): Promise<number> {
    await this.#step();
    return this.#inode.cached.length;
  }

  /** Half of these reads must be made otherwise, as where bytes are not in the system's memory. */
  readNow(target: Uint8Array, offset: number): number {
    if (!this.#open || this.#disk.random.below(2) === 0) throw new DiskError('EAGAIN', 'the read would take long');
    return this.#copyTo(target, offset);
  }

  async read(target: Uint8Array, offset: number): Promise<number> {
    await this.#step();
    return this.#copyTo(target, offset);
  }

  #copyTo(target: Uint8Array, offset: number): number {
    const error = this.#disk.failure('read');
    if (error !== undefined) throw error;
    this.#inode.evict(this.#disk.random);
    const bytes = this.#inode.cached.subarray(offset, offset + target.length);
    target.set(bytes);
    return bytes.length;
  }

  async write(bytes: Uint8Array, offset: number): Promise<void> {
    if (this.#mode === 'read') throw new DiskError('EBADF', 'open for reading');
    const durable = this.#mode === 'durable';
    const copy = bytes.slice();
    await this.#step();
    const error = this.#disk.failure(durable ? 'write-durable' : 'write');
    // Of what the disk refuses, the system's cache may have all.
    const whole = error?.code === 'EIO' && durable && this.#disk.random.chance(0.5);
    const half = whole ? copy.length : this.#disk.random.below(copy.length + 1);
    this.#inode.write(copy.subarray(0, half), offset);
    if (error !== undefined) {
      if (error.code === 'EIO' && durable) this.#loseTrack();
      throw error;
    }
    await this.#step();
    this.#inode.write(copy.subarray(half), offset + half);
    if (!durable) return;
    await this.#step();
    this.#inode.flush(offset, offset + copy.length);
    this.#tell();
    await this.#step();
  }

  async truncate(length: number): Promise<void> {
    await this.#step();
    const error = this.#disk.failure('truncate');
    if (error !== undefined) throw error;
    this.#inode.truncate(length);
    await this.#step();
  }

  async sync(): Promise<void> {
    await this.#step();
    const error = this.#disk.failure('sync');
    if (error !== undefined) {
      this.#loseTrack();
      throw error;
    }
    const sectors = this.#inode.dirtySectors();
    await this.#step();
    this.#inode.sync(sectors);
    this.#tell();
    await this.#step();
  }

  async close(): Promise<void> {
    if (!this.#open) throw new DiskError('EBADF', 'closed twice');
    this.#open = false;
    await this.#disk.step(this.#process);
  }

  async #step(): Promise<void> {
    if (!this.#open) throw new DiskError('EBADF', 'the file is closed');
    await this.#disk.step(this.#process);
    // A real system identifies a file by a number, which may belong to another file after a close.
    if (!this.#open) throw new DiskError('EBADF', 'closed while it is used');
  }

  #loseTrack(): void {
    this.#inode.loseTrack(this.#disk.random);
    this.#told = this.#inode.failures;
  }

  /** Reports a loss of written bytes, once for each open descriptor. */
  #tell(): void {
    if (this.#told === this.#inode.failures) return;
    this.#told = this.#inode.failures;
    throw new DiskError('EIO', 'written bytes were lost');
  }
}

import * as fs from 'node:fs';
import * as timers from 'node:timers/promises';
import type { ByteSource } from '@engram/bbolt';
import { ConfigError } from '../flags/flag-values.ts';

/** Bytes that are read before signals are looked at: a read of what the system has in memory does not wait. */
const TURN_BYTES = 4 << 20;

/** A file to restore from, open for reading. */
export class SnapshotFile implements ByteSource, Disposable {
  readonly bytes: number;
  readonly #path: string;
  readonly #fd: number;
  readonly #before: fs.BigIntStats;
  #sinceTurn = 0;

  private constructor(path: string, fd: number, stats: fs.BigIntStats) {
    this.#path = path;
    this.#fd = fd;
    this.#before = stats;
    this.bytes = Number(stats.size);
  }

  /** Throws ConfigError if there is no such file. */
  static open(path: string): SnapshotFile {
    let fd: number;
    try {
      fd = fs.openSync(path, 'r');
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ConfigError(`cannot read the snapshot ${path}: ${why}`, { cause });
    }
    const stats = fs.fstatSync(fd, { bigint: true });
    if (stats.isFile()) return new SnapshotFile(path, fd, stats);
    fs.closeSync(fd);
    throw new ConfigError(`the snapshot ${path} is no file: of a data directory of etcd, give member/snap/db`);
  }

  async read(
    offset: number,
    bytes: number,
    signal: AbortSignal,
    into = new Uint8Array(Buffer.allocUnsafeSlow(bytes).buffer),
  ): Promise<Uint8Array> {
    this.#sinceTurn += bytes;
    if (this.#sinceTurn > TURN_BYTES) {
      this.#sinceTurn = 0;
      await timers.setImmediate();
      signal.throwIfAborted();
    }
    let read = 0;
    while (read < bytes) {
      const count = fs.readSync(this.#fd, into, read, bytes - read, offset + read);
      if (count === 0) break;
      read += count;
    }
    return into.subarray(0, read);
  }

  /** Throws ConfigError if somebody has written to the file since it was opened: an etcd that runs on it. */
  checkUnchanged(): void {
    const { size, mtimeNs } = fs.fstatSync(this.#fd, { bigint: true });
    if (size === this.#before.size && mtimeNs === this.#before.mtimeNs) return;
    throw new ConfigError(`${this.#path} has changed while it was read: stop the etcd that has it open`);
  }

  [Symbol.dispose](): void {
    fs.closeSync(this.#fd);
  }
}

import {
  appendFileSync,
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  fstatSync,
  openSync,
  renameSync,
} from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** When a log file is put aside, and what becomes of those that were (etcd: --log-rotation-config-json). */
export interface LogRotation {
  /** A line that would make the file larger begins a new one. */
  readonly bytesMax: number;
  /** Files that were put aside longer ago are deleted; 0: none for its age. */
  readonly daysMax: number;
  /** The newest files that were put aside are kept; 0: all. */
  readonly backupsMax: number;
  /** Names have the local time instead of UTC. */
  readonly localTime: boolean;
  readonly compress: boolean;
}

const DAY_MS = 24 * 3600 * 1000;
const COMPRESSED = '.gz';
/** As lumberjack, which etcd uses, names them: `log-2026-01-02T03-04-05.006.txt`. */
const stampPattern = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}$/;

/** A log file that is put aside when it is full. Lines are written at once. Files that were put aside are tended in the background. */
export class RotatingFile {
  readonly #path: string;
  readonly #rotation: LogRotation;
  readonly #nowMs: () => number;
  #descriptor: number;
  #bytes: number;
  #tending: Promise<void> | undefined;
  /** A file was put aside since tending began. */
  #again = false;

  /** Throws if the file cannot be opened. */
  constructor(path: string, rotation: LogRotation, nowMs: () => number = Date.now) {
    this.#path = path;
    this.#rotation = rotation;
    this.#nowMs = nowMs;
    this.#descriptor = openLog(path);
    this.#bytes = fstatSync(this.#descriptor).size;
    this.#tend();
  }

  /** Throws if the line cannot be written, or is longer than a file may be. */
  append(line: string): void {
    const bytes = Buffer.byteLength(line);
    const { bytesMax } = this.#rotation;
    if (bytes > bytesMax) throw new RangeError(`a line of ${bytes} bytes in files of ${bytesMax}`);
    if (this.#bytes > 0 && this.#bytes + bytes > bytesMax) this.#rotate();
    appendFileSync(this.#descriptor, line);
    this.#bytes += bytes;
  }

  /** Resolves when nothing is being deleted or compressed. */
  async tended(): Promise<void> {
    while (this.#tending !== undefined) await this.#tending;
  }

  /** A file that cannot be put aside is written on: lines count more than its size. */
  #rotate(): void {
    const full = this.#descriptor;
    try {
      renameSync(this.#path, this.#backup(this.#nowMs()));
    } catch (error) {
      // A file that is missing was put aside by somebody else.
      if (!isMissing(error)) return;
    }
    try {
      this.#descriptor = openLog(this.#path);
    } catch {
      return;
    }
    closeSync(full);
    this.#bytes = 0;
    this.#tend();
  }

  /** A name that no file has: two files may be full within a millisecond. */
  #backup(atMs: number): string {
    const { stem, extension } = this.#names;
    const path = join(dirname(this.#path), `${stem}${stampOf(atMs, this.#rotation.localTime)}${extension}`);
    return existsSync(path) ? this.#backup(atMs + 1) : path;
  }

  get #names(): { readonly stem: string; readonly extension: string } {
    const extension = extname(this.#path);
    return { stem: `${basename(this.#path, extension)}-`, extension };
  }

  #tend(): void {
    const { daysMax, backupsMax, compress } = this.#rotation;
    if (daysMax === 0 && backupsMax === 0 && !compress) return;
    this.#again = true;
    this.#tending ??= this.#tendAll().finally(() => {
      this.#tending = undefined;
    });
  }

  /** What fails is tried again when the next file is put aside. */
  async #tendAll(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      await this.#tendOnce().catch(() => undefined);
    }
  }

  async #tendOnce(): Promise<void> {
    const { daysMax, backupsMax, compress, localTime } = this.#rotation;
    const folder = dirname(this.#path);
    const backups = (await readdir(folder))
      .flatMap((name) => {
        const stamp = this.#stampIn(name);
        return stamp === undefined ? [] : [{ name, stamp }];
      })
      .toSorted((left, right) => (left.stamp < right.stamp ? 1 : -1));
    const kept = [...new Set(backups.map(({ stamp }) => stamp))].slice(0, backupsMax === 0 ? undefined : backupsMax);
    const oldest = daysMax === 0 ? '' : stampOf(this.#nowMs() - daysMax * DAY_MS, localTime);
    for (const { name, stamp } of backups) {
      const path = join(folder, name);
      if (!kept.includes(stamp) || stamp < oldest) await rm(path, { force: true });
      else if (compress && !name.endsWith(COMPRESSED)) await compressed(path);
    }
  }

  /** When the file was put aside; undefined if it is another file. */
  #stampIn(name: string): string | undefined {
    const { stem, extension } = this.#names;
    const plain = name.endsWith(extension + COMPRESSED) ? name.slice(0, -COMPRESSED.length) : name;
    if (!plain.startsWith(stem) || !plain.endsWith(extension)) return undefined;
    const stamp = plain.slice(stem.length, plain.length - extension.length);
    return stampPattern.test(stamp) ? stamp : undefined;
  }
}

/** The end of a file that was compressed by halves is not taken for a whole one: the plain file is there until then. */
async function compressed(path: string): Promise<void> {
  const target = path + COMPRESSED;
  try {
    await pipeline(createReadStream(path), createGzip(), createWriteStream(target, { mode: 0o600 }));
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
  await rm(path, { force: true });
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

const openLog = (path: string): number => openSync(path, 'a', 0o600);

function stampOf(atMs: number, localTime: boolean): string {
  const shiftMs = localTime ? new Date(atMs).getTimezoneOffset() * 60_000 : 0;
  return new Date(atMs - shiftMs).toISOString().slice(0, -1).replaceAll(':', '-');
}

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Prng } from '@engram/sim';
import type { Recorded } from './recording.ts';

type Write = { readonly endMs: number; readonly offset: number; readonly bytes: Buffer };
type Cut = { readonly endMs: number; readonly length: number };

class ModelFile {
  readonly #disk = new Bytes();
  #pending: (Write | Cut)[] = [];

  static durable(bytes: Buffer): ModelFile {
    const file = new ModelFile();
    file.#disk.apply({ endMs: 0, offset: 0, bytes });
    return file;
  }

  change(change: Write | Cut): void {
    this.#pending.push(change);
  }

  /** A write that was durable when it ended. It makes no other write durable. */
  writeDurably({ offset, bytes, endMs }: Write): void {
    this.#disk.apply({ endMs, offset, bytes });
    const end = offset + bytes.length;
    this.#pending = this.#pending.flatMap<Write | Cut>((other) =>
      'length' in other ? [other] : withoutRange(other, offset, end),
    );
  }

  sync(startMs: number): void {
    for (const change of this.#pending) if (change.endMs <= startMs) this.#disk.apply(change);
    this.#pending = this.#pending.filter(({ endMs }) => endMs > startMs);
  }

  /** What a loss of power leaves: each page as it was after any of the changes, and any of the lengths. */
  afterPowerLoss(random: Prng): Buffer {
    const durable = this.#disk.view();
    const mode = this.#pending.length === 0 ? 0 : random.below(4);
    if (mode === 0) return durable;
    const after = new Bytes();
    after.apply({ endMs: 0, offset: 0, bytes: durable });
    const lengths = [durable.length];
    for (const change of this.#pending) {
      after.apply(change);
      lengths.push(after.length);
    }
    if (mode === 1) return after.view();
    return this.#mixed(random, random.pick([512, 4096]), random.pick(lengths));
  }

  #mixed(random: Prng, page: number, length: number): Buffer {
    const after = Buffer.alloc(length);
    this.#disk.view().copy(after, 0, 0, length);
    const touched = new Set<number>();
    for (const change of this.#pending) {
      if ('length' in change) continue;
      const end = change.offset + change.bytes.length;
      for (let at = Math.floor(change.offset / page); at * page < end; at += 1) touched.add(at);
    }
    for (const at of touched) {
      const [begin, end] = [at * page, Math.min((at + 1) * page, length)];
      for (const change of this.#pending.slice(0, random.below(this.#pending.length + 1))) {
        if ('length' in change) {
          if (change.length < end) after.fill(0, Math.max(begin, change.length), end);
          continue;
        }
        const from = Math.max(begin, change.offset);
        const to = Math.min(end, change.offset + change.bytes.length);
        if (from < to) change.bytes.copy(after, from, from - change.offset, to - change.offset);
      }
    }
    return after;
  }
}

/** Bytes that grow. */
class Bytes {
  #buffer = Buffer.alloc(4096);
  length = 0;

  view(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }

  apply(change: Write | Cut): void {
    if ('length' in change) {
      this.#buffer.fill(0, Math.min(change.length, this.length), this.length);
      this.#reserve(change.length);
      this.length = change.length;
      return;
    }
    const end = change.offset + change.bytes.length;
    this.#reserve(end);
    change.bytes.copy(this.#buffer, change.offset);
    this.length = Math.max(this.length, end);
  }

  #reserve(length: number): void {
    if (length <= this.#buffer.length) return;
    const larger = Buffer.alloc(Math.max(length, 2 * this.#buffer.length));
    this.view().copy(larger);
    this.#buffer = larger;
  }
}

type Named = ModelFile | ModelDirectory;
type NameChange = { readonly endMs: number; apply(names: Map<string, Named>): void };

class ModelDirectory {
  readonly names = new Map<string, Named>();
  durable = new Map<string, Named>();
  pending: NameChange[] = [];

  change(endMs: number, apply: (names: Map<string, Named>) => void): void {
    apply(this.names);
    this.pending.push({ endMs, apply });
  }

  sync(startMs: number): void {
    for (const { endMs, apply } of this.pending) if (endMs <= startMs) apply(this.durable);
    this.pending = this.pending.filter(({ endMs }) => endMs > startMs);
  }

  afterPowerLoss(random: Prng, ordered: boolean): Map<string, Named> {
    const names = new Map(this.durable);
    const mode = random.below(ordered ? 3 : 4);
    const kept = mode === 0 ? 0 : mode === 1 ? this.pending.length : random.below(this.pending.length + 1);
    for (const [at, { apply }] of this.pending.entries()) if (mode === 3 ? random.chance(0.5) : at < kept) apply(names);
    return names;
  }
}

/**
 * The disk below a folder, as the recorded calls have left it: what is durable, and what was only written. A write, a sync
 * and a change of names count from their end on; a sync covers what had ended when it began.
 */
export class DiskModel {
  readonly #path: string;
  readonly #root: ModelDirectory;

  /** `path` is a folder that is durable. It begins empty, or as the folder `begins` is now. */
  constructor(path: string, begins: string | undefined) {
    this.#path = path;
    this.#root = begins === undefined ? new ModelDirectory() : readDurably(begins);
  }

  apply(change: Recorded): void {
    const { path, endMs, startMs } = change;
    const [directory, name] = [this.#directory(dirname(path)), basename(path)];
    switch (change.kind) {
      case 'open': {
        const file = directory?.names.get(name);
        if (file === undefined) directory?.change(endMs, adding(name, new ModelFile()));
        else if (change.truncates && file instanceof ModelFile) file.change({ endMs, length: 0 });
        break;
      }
      case 'write':
        if (change.durable) this.#file(path)?.writeDurably(change);
        else this.#file(path)?.change(change);
        break;
      case 'truncate':
        this.#file(path)?.change({ endMs, length: change.length });
        break;
      case 'sync': {
        const found = this.#find(path);
        found?.sync(startMs);
        if (found instanceof ModelFile && isRecords(basename(dirname(path)))) directory?.sync(startMs);
        break;
      }
      case 'rename': {
        const moved = directory?.names.get(name);
        const to = basename(change.to);
        if (moved === undefined) break;
        if (this.#directory(dirname(change.to)) !== directory) throw new Error('a rename between directories');
        directory?.change(endMs, (names) => {
          if (names.get(name) === moved) names.delete(name);
          names.set(to, moved);
        });
        break;
      }
      case 'remove':
        directory?.change(endMs, (names) => void names.delete(name));
        break;
      case 'make-directory':
        directory?.change(endMs, adding(name, new ModelDirectory()));
    }
  }

  /** Writes one state that a loss of power may leave now into an empty folder. */
  layAfterPowerLoss(random: Prng, into: string): void {
    const lay = (directory: ModelDirectory, path: string): void => {
      mkdirSync(path, { recursive: true });
      for (const [name, named] of directory.afterPowerLoss(random, isLevelDb(basename(path)))) {
        const target = join(path, name);
        if (named instanceof ModelDirectory) lay(named, target);
        else writeFileSync(target, named.afterPowerLoss(random));
      }
    };
    lay(this.#root, into);
  }

  #find(path: string): Named | undefined {
    if (path === this.#path) return this.#root;
    if (!path.startsWith(`${this.#path}/`)) return undefined;
    let found: Named | undefined = this.#root;
    for (const name of path.slice(this.#path.length + 1).split('/')) {
      found = found instanceof ModelDirectory ? found.names.get(name) : undefined;
    }
    return found;
  }

  #directory(path: string): ModelDirectory | undefined {
    const found = this.#find(path);
    return found instanceof ModelDirectory ? found : undefined;
  }

  #file(path: string): ModelFile | undefined {
    const found = this.#find(path);
    return found instanceof ModelFile ? found : undefined;
  }
}

/** LevelDB relies on a file system that makes the changes of one directory durable in their order. */
const isLevelDb = (directory: string): boolean => /^(?:meta|records)(?:\.new)?$/.test(directory);
/** The engine of that name also relies on one that makes the name of a new file durable with its first sync. */
const isRecords = (directory: string): boolean => /^records(?:\.new)?$/.test(directory);

function adding(name: string, named: Named): (names: Map<string, Named>) => void {
  return (names) => void names.set(name, named);
}

function readDurably(path: string): ModelDirectory {
  const directory = new ModelDirectory();
  for (const name of readdirSync(path)) {
    const child = join(path, name);
    const named = statSync(child).isDirectory() ? readDurably(child) : ModelFile.durable(readFileSync(child));
    directory.names.set(name, named);
    directory.durable.set(name, named);
  }
  return directory;
}

/** The parts of an earlier write that a later, durable one has not replaced. */
function withoutRange(write: Write, from: number, to: number): Write[] {
  const end = write.offset + write.bytes.length;
  if (end <= from || write.offset >= to) return [write];
  const parts: Write[] = [];
  if (write.offset < from) parts.push({ ...write, bytes: write.bytes.subarray(0, from - write.offset) });
  if (end > to) parts.push({ ...write, offset: to, bytes: write.bytes.subarray(to - write.offset) });
  return parts;
}

import { assert } from '@engram/core';
import { StorageCorruptError, StorageOpenError } from '@engram/storage';
import type { Meta, MetaWrite } from '@engram/storage-segment';
import type { SimDirectory } from './sim-directory.ts';
import type { SimInode } from './sim-inode.ts';

/** What the manifest of a database says. LevelDB does not sync it when it creates the database. */
const MANIFEST = Buffer.from('manifest');
const manifestFile = (number: number): string => `MANIFEST-${String(number).padStart(6, '0')}`;
const LOG_FILE = '000003.log';

/** What a write to a database does on the disk, beside changing its entries. */
export interface DatabaseSteps {
  /** Lets other work have its turn. */
  step(): Promise<void>;
  /** A write begins. The error if it fails; then it may have been made all the same. */
  begin(): Error | undefined;
  /** Whether a write that fails was made. */
  isMade(): boolean;
}

/**
 * The databases of one disk: LevelDB as far as crashes show it. Every write to an open database is durable. While one is
 * being made, a loss of power may leave a name without its bytes. LevelDB does not sync its folder after it has replaced
 * its manifest: it relies on a file system that makes the changes of one folder durable in their order.
 */
export class SimDatabases {
  readonly #directory: SimDirectory;
  /** The entries by the file that holds them. */
  readonly #entries = new Map<SimInode, Map<string, Uint8Array>>();
  readonly #held = new Set<SimInode>();

  constructor(directory: SimDirectory) {
    this.#directory = directory;
  }

  /** The process has ended: nothing is held. */
  release(): void {
    this.#held.clear();
  }

  /** StorageOpenError if it is held or missing, StorageCorruptError if a loss of power has taken what it needs. */
  async open(path: string, create: boolean, steps: DatabaseSteps): Promise<Meta> {
    const directory = this.#directory;
    await steps.step();
    if (create) directory.makeFolders(path);
    directory.folder(path).keepsOrder = true;
    const lock = directory.find(`${path}/LOCK`) ?? directory.create(`${path}/LOCK`);
    if (this.#held.has(lock)) throw new StorageOpenError('locked', `${path} is in use`);
    this.#held.add(lock);
    try {
      if (directory.find(`${path}/CURRENT`) === undefined) {
        if (!create) throw new StorageCorruptError('there is no database', path);
        await this.#create(path, steps);
      }
      const entries = await this.#recover(path, steps);
      return this.#opened(entries, lock, steps);
    } catch (error) {
      this.#held.delete(lock);
      throw error;
    }
  }

  async #create(path: string, steps: DatabaseSteps): Promise<void> {
    await steps.step();
    this.#newFile(`${path}/${manifestFile(1)}`).write(MANIFEST, 0);
    await this.#point(path, manifestFile(1), steps);
  }

  /** Reads the files, and writes a new manifest and syncs it and its folder. Then the old manifest goes, unsynced. */
  async #recover(path: string, steps: DatabaseSteps): Promise<Map<string, Uint8Array>> {
    const directory = this.#directory;
    const before = Buffer.from(directory.find(`${path}/CURRENT`)!.cached).toString();
    const manifest = directory.find(`${path}/${before}`);
    if (manifest === undefined || Buffer.compare(manifest.cached, MANIFEST) !== 0) {
      throw new StorageCorruptError('no meta-nextfile entry in descriptor', path);
    }
    const log = directory.find(`${path}/${LOG_FILE}`) ?? directory.create(`${path}/${LOG_FILE}`);
    const entries = this.#entries.get(log) ?? new Map<string, Uint8Array>();
    this.#entries.set(log, entries);
    const name = manifestFile(Number.parseInt(before.slice(-6), 10) + 1);
    await steps.step();
    const next = this.#newFile(`${path}/${name}`);
    next.write(MANIFEST, 0);
    await steps.step();
    next.sync(next.dirtySectors());
    const folder = directory.folder(path);
    folder.sync(folder.undurable);
    await this.#point(path, name, steps);
    directory.remove(`${path}/${before}`);
    await steps.step();
    return entries;
  }

  /** CURRENT names this manifest from now on. Its bytes are durable, its new name is not. */
  async #point(path: string, manifest: string, steps: DatabaseSteps): Promise<void> {
    await steps.step();
    const current = this.#newFile(`${path}/CURRENT.dbtmp`);
    current.write(Buffer.from(manifest), 0);
    current.sync(current.dirtySectors());
    await steps.step();
    this.#directory.rename(`${path}/CURRENT.dbtmp`, `${path}/CURRENT`);
    await steps.step();
  }

  #newFile(path: string): SimInode {
    const file = this.#directory.find(path) ?? this.#directory.create(path);
    file.truncate(0);
    return file;
  }

  #opened(entries: Map<string, Uint8Array>, lock: SimInode, steps: DatabaseSteps): Meta {
    return {
      entries: async () => {
        await steps.step();
        const sorted = [...entries].sort(([left], [right]) => (left < right ? -1 : 1));
        return sorted.map(([key, value]) => [new Uint8Array(Buffer.from(key, 'hex')), value.slice()] as const);
      },
      write: async (writes: readonly MetaWrite[]) => {
        const copies = writes.map(({ key, value }) => [Buffer.from(key).toString('hex'), value?.slice()] as const);
        const error = steps.begin();
        await steps.step();
        if (error === undefined || steps.isMade()) {
          for (const [key, value] of copies) {
            if (value === undefined) entries.delete(key);
            else entries.set(key, value);
          }
        }
        if (error !== undefined) throw error;
        await steps.step();
      },
      close: async () => {
        await steps.step();
        assert(this.#held.delete(lock), 'closed twice');
      },
    };
  }
}

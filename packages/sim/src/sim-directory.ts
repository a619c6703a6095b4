import { assert } from '@engram/core';
import { DiskError } from './disk-error.ts';
import type { Prng } from './prng.ts';
import { SimFolder } from './sim-folder.ts';
import { SimInode } from './sim-inode.ts';

/** The tree of folders below `/`. Paths are absolute. */
export class SimDirectory {
  readonly #root = new SimFolder();

  find(path: string): SimInode | undefined {
    const found = this.#get(path);
    return found instanceof SimInode ? found : undefined;
  }

  findFolder(path: string): SimFolder | undefined {
    const found = this.#get(path);
    return found instanceof SimFolder ? found : undefined;
  }

  /** DiskError ENOENT if there is no such folder. */
  folder(path: string): SimFolder {
    const found = this.findFolder(path);
    if (found === undefined) throw new DiskError('ENOENT', path);
    return found;
  }

  /** The paths of all files, sorted. */
  paths(): string[] {
    const paths: string[] = [];
    const walk = (folder: SimFolder, path: string): void => {
      for (const name of folder.names()) {
        const named = folder.get(name);
        if (named instanceof SimFolder) walk(named, `${path}/${name}`);
        else paths.push(`${path}/${name}`);
      }
    };
    walk(this.#root, '');
    return paths.sort();
  }

  create(path: string): SimInode {
    const inode = new SimInode();
    const { folder, name } = this.#place(path);
    folder.add(name, inode);
    return inode;
  }

  /** Creates the folder and its parents where they are missing. Returns all of them, the root first. */
  makeFolders(path: string): readonly SimFolder[] {
    const folders = [this.#root];
    for (const name of parts(path)) {
      const parent = folders.at(-1)!;
      const found = parent.get(name);
      if (found instanceof SimInode) throw new DiskError('ENOTDIR', path);
      if (found === undefined) parent.add(name, new SimFolder());
      folders.push(parent.get(name) as SimFolder);
    }
    return folders;
  }

  /** Within one folder. */
  rename(from: string, to: string): void {
    const [before, after] = [this.#place(from), this.#place(to)];
    assert(before.folder === after.folder, 'a rename between folders');
    before.folder.rename(before.name, after.name);
  }

  remove(path: string): void {
    const { folder, name } = this.#place(path);
    folder.remove(name);
  }

  losePower(random: Prng): void {
    this.#root.losePower(random);
  }

  #get(path: string): SimInode | SimFolder | undefined {
    let found: SimInode | SimFolder | undefined = this.#root;
    for (const name of parts(path)) found = found instanceof SimFolder ? found.get(name) : undefined;
    return found;
  }

  #place(path: string): { readonly folder: SimFolder; readonly name: string } {
    const names = parts(path);
    const name = names.pop();
    assert(name !== undefined, 'the root has no name');
    return { folder: this.folder(`/${names.join('/')}`), name };
  }
}

function parts(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}

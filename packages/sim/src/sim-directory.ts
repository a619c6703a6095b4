import type { Prng } from './prng.ts';
import { SimInode } from './sim-inode.ts';

/** A change of names that no directory sync has made durable yet. */
type NameChange =
  | { readonly kind: 'create'; readonly path: string; readonly inode: SimInode }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string; readonly inode: SimInode }
  | { readonly kind: 'remove'; readonly path: string };

/** The names of files, as programs see them and as they are on the disk. */
export class SimDirectory {
  #names = new Map<string, SimInode>();
  #durable = new Map<string, SimInode>();
  #changes: NameChange[] = [];

  find(path: string): SimInode | undefined {
    return this.#names.get(path);
  }

  /** The names as programs see them, sorted. */
  paths(): string[] {
    return [...this.#names.keys()].sort();
  }

  create(path: string): SimInode {
    const inode = new SimInode();
    this.#change({ kind: 'create', path, inode });
    return inode;
  }

  /** Creates a file whose name is durable at once. */
  createDurably(path: string): void {
    const inode = new SimInode();
    this.#names.set(path, inode);
    this.#durable.set(path, inode);
  }

  /** Replaces a file under the new name. No effect if the old name does not exist. */
  rename(from: string, to: string): void {
    const inode = this.#names.get(from);
    if (inode !== undefined) this.#change({ kind: 'rename', from, to, inode });
  }

  remove(path: string): void {
    if (this.#names.has(path)) this.#change({ kind: 'remove', path });
  }

  /** The number of changes that a sync which begins now makes durable. */
  get undurable(): number {
    return this.#changes.length;
  }

  sync(changes: number): void {
    for (const change of this.#changes.splice(0, changes)) apply(this.#durable, change);
  }

  /**
   * Loses power. Of the changes that were not synced, any subset or any prefix is durable. Then the files lose their
   * caches.
   */
  losePower(random: Prng): void {
    const ordered = random.chance(0.5);
    let kept = random.below(this.#changes.length + 1);
    for (const change of this.#changes) {
      if (ordered ? kept > 0 : random.chance(0.5)) apply(this.#durable, change);
      kept -= 1;
    }
    this.#changes = [];
    this.#names = new Map(this.#durable);
    for (const inode of new Set(this.#names.values())) inode.loseCache(random);
  }

  #change(change: NameChange): void {
    apply(this.#names, change);
    this.#changes.push(change);
  }
}

function apply(names: Map<string, SimInode>, change: NameChange): void {
  switch (change.kind) {
    case 'create':
      names.set(change.path, change.inode);
      break;
    case 'remove':
      names.delete(change.path);
      break;
    // A rename moves an inode: if the old name has another inode by now, that one stays.
    case 'rename':
      if (names.get(change.from) === change.inode) names.delete(change.from);
      names.set(change.to, change.inode);
  }
}

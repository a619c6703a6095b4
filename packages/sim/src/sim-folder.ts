import { DiskError } from './disk-error.ts';
import type { Prng } from './prng.ts';
import type { SimInode } from './sim-inode.ts';

type Named = SimInode | SimFolder;

/** A change of names that no sync of the folder has made durable yet. */
type NameChange =
  | { readonly kind: 'add'; readonly name: string; readonly named: Named }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string; readonly named: Named }
  | { readonly kind: 'remove'; readonly name: string };

/** The names in a folder, as programs see them and as they are on the disk. */
export class SimFolder {
  #names = new Map<string, Named>();
  #durable = new Map<string, Named>();
  #changes: NameChange[] = [];
  /** Its changes become durable in their order. */
  keepsOrder = false;

  get(name: string): Named | undefined {
    return this.#names.get(name);
  }

  /** The names as programs see them, sorted. */
  names(): string[] {
    return [...this.#names.keys()].sort();
  }

  add(name: string, named: Named): void {
    this.#change({ kind: 'add', name, named });
  }

  /** Replaces a file under the new name. Only an empty folder is replaced. */
  rename(from: string, to: string): void {
    const named = this.#names.get(from);
    if (named === undefined) throw new DiskError('ENOENT', from);
    const there = this.#names.get(to);
    if (there instanceof SimFolder && there.names().length > 0) throw new DiskError('ENOTEMPTY', to);
    this.#change({ kind: 'rename', from, to, named });
  }

  /** No effect if there is no such name. */
  remove(name: string): void {
    if (this.#names.has(name)) this.#change({ kind: 'remove', name });
  }

  /** The number of changes that a sync which begins now makes durable. */
  get undurable(): number {
    return this.#changes.length;
  }

  sync(changes: number): void {
    for (const change of this.#changes.splice(0, changes)) apply(this.#durable, change);
  }

  /**
   * Loses power. Of the changes that were not synced, any subset or any prefix is durable. Then the files and folders
   * that still have a name lose their caches.
   */
  losePower(random: Prng): void {
    const ordered = this.keepsOrder || random.chance(0.5);
    let kept = random.below(this.#changes.length + 1);
    for (const change of this.#changes) {
      if (ordered ? kept > 0 : random.chance(0.5)) apply(this.#durable, change);
      kept -= 1;
    }
    this.#changes = [];
    this.#names = new Map(this.#durable);
    for (const named of new Set(this.#names.values())) {
      if (named instanceof SimFolder) named.losePower(random);
      else named.loseCache(random);
    }
  }

  #change(change: NameChange): void {
    apply(this.#names, change);
    this.#changes.push(change);
  }
}

function apply(names: Map<string, Named>, change: NameChange): void {
  switch (change.kind) {
    case 'add':
      names.set(change.name, change.named);
      break;
    case 'remove':
      names.delete(change.name);
      break;
    // A rename moves what has the name: if the old name is something else's by now, that one keeps it.
    case 'rename':
      if (names.get(change.from) === change.named) names.delete(change.from);
      names.set(change.to, change.named);
  }
}

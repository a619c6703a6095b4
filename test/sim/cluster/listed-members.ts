import type { Member } from '@engram/etcd-api';
import { Finding } from '../judge/finding.ts';

/** What a list of the members must show that is asked for now. */
export interface ExpectedList {
  readonly added: readonly bigint[];
  readonly removed: readonly bigint[];
}

/** The changes of the membership that clients were told of, which every linearizable list must show from then on. */
export class ListedMembers {
  readonly #added = new Set<bigint>();
  readonly #removed = new Set<bigint>();

  added(id: bigint): void {
    this.#added.add(id);
  }

  removed(id: bigint): void {
    this.#removed.add(id);
  }

  get expected(): ExpectedList {
    return { added: [...this.#added], removed: [...this.#removed] };
  }

  /** `removals`: the members that clients have asked to remove by now. Throws Finding if the list is older than what was expected. */
  judge(members: readonly Member[], { added, removed }: ExpectedList, removals: ReadonlySet<bigint>): void {
    const listed = new Set(members.map(({ id }) => id));
    const missed = added.filter((id) => !listed.has(id) && !removals.has(id));
    const kept = removed.filter((id) => listed.has(id));
    if (missed.length > 0)
      throw new Finding('answer', `a list of the members does not show the added ${missed.join()}`);
    if (kept.length > 0) throw new Finding('answer', `a list of the members shows the removed ${kept.join()}`);
  }
}

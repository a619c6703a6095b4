import { EMPTY_BYTES } from '@engram/core';
import type { LogIndex, RawNode, Term } from '@engram/raft-ts';
import type { MemberId } from '../cluster/member.ts';

/** Removed members that have asked this member, which leads, whether they may leave. */
export class Dismissals {
  readonly #node: RawNode;
  readonly #asked = new Set<MemberId>();
  /** The entry behind which a majority knows of these removals. */
  #marker: { readonly term: Term; readonly index: LogIndex; readonly removed: readonly MemberId[] } | undefined;

  constructor(node: RawNode) {
    this.#node = node;
  }

  /**
   * `removed` are the members whose removal is applied here. Only a leader answers that has committed an entry of its term, and
   * that would know of the removal after a crash.
   */
  ask(member: MemberId, removed: readonly MemberId[]): void {
    const node = this.#node;
    if (node.hasCommittedInTerm && node.confIsDurable && removed.includes(member)) this.#asked.add(member);
  }

  /**
   * Takes the members that may leave now. A majority must know of the removal: the others count the member until they do, and
   * could need its vote if this leader were lost. Members that ask a leader which then ends ask the next one.
   */
  take(leads: boolean, removed: readonly MemberId[]): readonly MemberId[] {
    if (this.#asked.size === 0 || (leads && !this.#majorityKnows(removed))) return [];
    const asked = [...this.#asked];
    this.#asked.clear();
    return leads ? asked : [];
  }

  /**
   * Whether an entry is applied that this leader appended after it had applied the removals. A voter that acknowledged the
   * entry got the commit of the removals with it, or before. Appends the entry at the first question.
   */
  #majorityKnows(removed: readonly MemberId[]): boolean {
    const node = this.#node;
    if (this.#marker?.term !== node.term || this.#marker.removed !== removed) {
      const outcome = node.propose(EMPTY_BYTES);
      this.#marker = outcome.kind === 'appended' ? { term: node.term, index: outcome.first, removed } : undefined;
    }
    return this.#marker !== undefined && node.appliedIndex >= this.#marker.index;
  }
}

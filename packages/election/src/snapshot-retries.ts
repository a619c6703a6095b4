import type { RawNode } from '@engram/raft-ts';
import type { MemberId } from './cluster/member.ts';

/** Gives up snapshots that are on their way for an election timeout. Until then the member gets no appends. */
export class SnapshotRetries {
  readonly #node: RawNode;
  readonly #electionTicks: number;
  #since = new Map<MemberId, number>();

  constructor(node: RawNode, electionTicks: number) {
    this.#node = node;
    this.#electionTicks = electionTicks;
  }

  tick(now: number): void {
    const waiting = new Map<MemberId, number>();
    for (const [id, { state }] of this.#node.status().followers) {
      if (state !== 'snapshot') continue;
      const since = this.#since.get(id) ?? now;
      if (now - since >= this.#electionTicks) this.#node.reportSnapshot(id, false);
      else waiting.set(id, since);
    }
    this.#since = waiting;
  }
}

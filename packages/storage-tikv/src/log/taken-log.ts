import type { LogPosition } from '@engram/core';
import type { Chain } from '../format/chain.ts';

/**
 * How far this node has taken the log, and the chain there. It does not depend on a copy: a node without a disk has it as well.
 * Unknown until the first batch, and after a batch whose chain cannot be known.
 */
export class TakenLog {
  #next: LogPosition | undefined;
  #chain: Chain | undefined;

  /** Undefined before the first batch. */
  get next(): LogPosition | undefined {
    return this.#next;
  }

  /** The chain before this position; undefined if the node has not taken the log up to there, or beyond. */
  chainAt(position: LogPosition): Chain | undefined {
    return this.#next === position ? this.#chain : undefined;
  }

  /** The node has taken the log up to here. Only the first call counts. */
  begin(next: LogPosition, chain: Chain | undefined): void {
    if (this.#next !== undefined) return;
    this.#next = next;
    this.#chain = chain;
  }

  /** The node has taken a batch. One that does not come next was taken before, or waits for what is missing. */
  took(first: LogPosition, next: LogPosition, chain: Chain | undefined): void {
    if (this.#next !== undefined && this.#next !== first) return;
    this.#next = next;
    this.#chain = chain;
  }
}

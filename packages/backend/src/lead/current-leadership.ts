import { assert } from '@engram/core';
import type { Leadership } from './leadership.ts';

/**
 * The leadership of a node's store now. The store begins and ends it. Who must know whether this node leads reads it here,
 * so it can be built before the store.
 */
export class CurrentLeadership {
  #leadership: Leadership | undefined;

  /** Undefined if this node does not lead. */
  get leadership(): Leadership | undefined {
    return this.#leadership;
  }

  begin(leadership: Leadership): void {
    assert(this.#leadership === undefined, 'a leadership begins before the last one has ended');
    this.#leadership = leadership;
  }

  /** Does nothing if this leadership has ended already. */
  end(leadership: Leadership): void {
    if (this.#leadership === leadership) this.#leadership = undefined;
  }
}

import { assert, type LogPosition, NO_LEASE, Waiters } from '@engram/core';
import type { PureJob, Turn } from '@engram/loop';
import type { CommittedWrite } from './committed-write.ts';
import type { ReplicatedState } from './replicated-state.ts';

/**
 * The stage of effects, and the one place where a write takes effect: on the leader, on a member that follows, and in the replay of
 * a start. Batches come in the order of the log, one after the other.
 */
export class Applier {
  readonly state: ReplicatedState;
  readonly #turn: Turn;
  #next: LogPosition;
  /** A write is moving its keys between leases. */
  #moving = false;
  readonly #moved = new Waiters();

  /** @param next every record before this position has taken effect. */
  constructor(state: ReplicatedState, next: LogPosition, turn: Turn) {
    this.state = state;
    this.#next = next;
    this.#turn = turn;
  }

  /** Every record before this position has taken effect. Watchers may not have its events yet. */
  get next(): LogPosition {
    return this.#next;
  }

  /** Resolves when no write is moving keys between leases. Then the keys of all leases are those of one revision. */
  async wholeLeases(): Promise<void> {
    while (this.#moving) await this.#moved.next();
  }

  /**
   * Lets durable writes take effect, whose records end before `next`.
   *
   * Several writes take effect in one slice. A write that is alone may have very many changes: its keys move between leases first,
   * and give way to other work meanwhile. A call that reads the keys of a lease waits until they have (`wholeLeases`). All else of
   * it takes effect in the last slice.
   */
  *apply(writes: readonly CommittedWrite[], next: LogPosition): PureJob<void> {
    assert(next > this.#next, `records before ${next} take effect twice`);
    const { state } = this;
    const alone = writes.length === 1;
    this.#moving = true;
    for (const write of writes) {
      const { mark, group } = write;
      if (group !== undefined && state.attached) {
        // A lease that ends takes its keys with it, so they are not detached from it here.
        const ending = mark?.kind === 'lease-revoke' ? mark.id : NO_LEASE;
        for (const event of group.events) {
          state.moveKey(event, ending);
          if (this.#turn.shouldYield() && alone) yield;
        }
      }
      state.apply(write);
    }
    this.#moving = false;
    this.#next = next;
    this.#moved.wakeAll();
  }
}

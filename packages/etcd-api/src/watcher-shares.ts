import { assert, type Int64, type Share, type SharedBudget } from '@engram/core';

interface Held {
  readonly share: Share;
  streams: number;
}

/** What watchers take of memory, in shares of the clients' connections: a stream more gives its client no more. */
export class WatcherShares {
  readonly #budget: SharedBudget | undefined;
  readonly #connections = new Map<string, Held>();

  /** Without a budget nothing is bounded. */
  constructor(budget: SharedBudget | undefined) {
    this.#budget = budget;
  }

  /** For a stream of the connection of `peer`, until its `close`. */
  open(peer: string): StreamOfWatchers {
    if (this.#budget === undefined) return new StreamOfWatchers(undefined, () => {});
    const held = this.#connections.get(peer) ?? { share: this.#budget.share(), streams: 0 };
    held.streams += 1;
    this.#connections.set(peer, held);
    return new StreamOfWatchers(held.share, () => {
      held.streams -= 1;
      if (held.streams === 0) this.#connections.delete(peer);
    });
  }

  /** Connections with a stream. */
  get connections(): number {
    return this.#connections.size;
  }
}

/** The watchers of one stream. */
export class StreamOfWatchers {
  readonly #share: Share | undefined;
  readonly #closed: () => void;
  readonly #bytes = new Map<Int64, number>();
  #heldBytes = 0;

  constructor(share: Share | undefined, closed: () => void) {
    this.#share = share;
    this.#closed = closed;
  }

  /** Whether there may be one more. False is counted as a refusal. */
  mayAdd(): boolean {
    if (this.#share === undefined || this.#share.mayGrow) return true;
    this.#share.refused();
    return false;
  }

  add(watchId: Int64, bytes: number): void {
    assert(!this.#bytes.has(watchId), 'a watcher is counted twice');
    this.#bytes.set(watchId, bytes);
    this.#hold(bytes);
  }

  /** Nothing happens for one that is not counted. */
  remove(watchId: Int64): void {
    const bytes = this.#bytes.get(watchId);
    if (bytes === undefined) return;
    this.#bytes.delete(watchId);
    this.#hold(-bytes);
  }

  /** Once. */
  close(): void {
    this.#hold(-this.#heldBytes);
    this.#bytes.clear();
    this.#closed();
  }

  #hold(change: number): void {
    this.#heldBytes += change;
    if (this.#share !== undefined) this.#share.hold(this.#share.held + change);
  }
}

import { assert, type Int64, type Share, type SharedBudget } from '@engram/core';

interface Held {
  readonly share: Share;
  streams: number;
}

/** The memory of watchers, with one share for each connection: more streams do not give a client more. */
export class WatcherShares {
  readonly #budget: SharedBudget | undefined;
  readonly #connections = new Map<string, Held>();

  /** Without a budget, watchers are not bounded. */
  constructor(budget: SharedBudget | undefined) {
    this.#budget = budget;
  }

  /** For one stream of the connection of `peer`, until `close` of the result. */
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

  /** The number of connections with an open stream. */
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

  /** Whether the stream may add a watcher. False counts as a refusal. */
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

  /** Does nothing if the watcher is not counted. */
  remove(watchId: Int64): void {
    const bytes = this.#bytes.get(watchId);
    if (bytes === undefined) return;
    this.#bytes.delete(watchId);
    this.#hold(-bytes);
  }

  /** Must be called once. */
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

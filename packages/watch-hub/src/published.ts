import { assert, type Revision } from '@engram/core';

/** How far the hub has published. While it publishes a batch, the hub is between two revisions. */
export class Published {
  #revision: Revision;
  #header: Revision;
  #waiting: (() => void)[] = [];

  constructor(revision: Revision) {
    this.#revision = revision;
    this.#header = revision;
  }

  /** All events up to this revision have reached the live watchers. Reads of history end here. */
  get revision(): Revision {
    return this.#revision;
  }

  /**
   * The store's revision, for the header of a response. During a batch, it is the batch's last revision. New watchers from now on
   * start after it.
   */
  get header(): Revision {
    return this.#header;
  }

  /** True while a batch is published: some watchers have its events already, others do not. */
  get inBetween(): boolean {
    return this.#header !== this.#revision;
  }

  /** Moves the revision behind a batch that no watcher waits for. */
  move(revision: Revision): void {
    assert(!this.inBetween, 'moved while a batch is being published');
    this.#revision = revision;
    this.#header = revision;
  }

  begin(revision: Revision): void {
    assert(!this.inBetween && revision > this.#revision, 'a batch begins within another');
    this.#header = revision;
  }

  /**
   * Ends the batch when all watchers have its events. Returns the callbacks of `afterBatch` that waited; the caller
   * must call them.
   */
  end(): readonly (() => void)[] {
    this.#revision = this.#header;
    const waiting = this.#waiting;
    if (waiting.length > 0) this.#waiting = [];
    return waiting;
  }

  /** Calls `act` when the hub is not between two revisions: now, or at the end of the batch. */
  afterBatch(act: () => void): void {
    if (this.inBetween) this.#waiting.push(act);
    else act();
  }
}

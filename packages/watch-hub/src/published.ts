import { assert, type Revision } from '@engram/core';

/** How far the hub has published. While a batch is published in slices, it is between two revisions. */
export class Published {
  #revision: Revision;
  #header: Revision;
  #waiting: (() => void)[] = [];

  constructor(revision: Revision) {
    this.#revision = revision;
    this.#header = revision;
  }

  /**
   * Everything up to it has reached the live watchers. History is read up to it, and new watchers get what is above it.
   */
  get revision(): Revision {
    return this.#revision;
  }

  /**
   * The store's revision, for the header of a response with events. During a batch, it is the batch's last revision.
   */
  get header(): Revision {
    return this.#header;
  }

  /** A batch is being published in slices: some watchers have their matches of it, others do not. */
  get inBetween(): boolean {
    return this.#header !== this.#revision;
  }

  /** A batch was published at once. */
  move(revision: Revision): void {
    assert(!this.inBetween, 'moved while a batch is being published');
    this.#revision = revision;
    this.#header = revision;
  }

  begin(revision: Revision): void {
    assert(!this.inBetween && revision > this.#revision, 'a batch begins within another');
    this.#header = revision;
  }

  /** The batch has reached everybody. Returns what waited for that; the caller must call it. */
  end(): readonly (() => void)[] {
    this.#revision = this.#header;
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  /** Calls `act` when the hub is not between two revisions: now, or at the end of the batch. */
  whole(act: () => void): void {
    if (this.inBetween) this.#waiting.push(act);
    else act();
  }
}

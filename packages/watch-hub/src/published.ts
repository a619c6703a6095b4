import { assert, type Revision } from '@engram/core';

/** How far the hub is. While a batch is published in slices it is in between two revisions. */
export class Published {
  #revision: Revision;
  #header: Revision;
  #waiting: (() => void)[] = [];

  constructor(revision: Revision) {
    this.#revision = revision;
    this.#header = revision;
  }

  /** Up to it everything has reached the live watchers; history is read up to it, and who watches from now gets what is above. */
  get revision(): Revision {
    return this.#revision;
  }

  /** The store's, for the header of a response with events: in between, that of the batch. */
  get header(): Revision {
    return this.#header;
  }

  /** A batch is being published: some watchers have got of it what they match, others have not. */
  get inBetween(): boolean {
    return this.#header !== this.#revision;
  }

  /** All of a batch at once. */
  move(revision: Revision): void {
    assert(!this.inBetween, 'moved while a batch is being published');
    this.#revision = revision;
    this.#header = revision;
  }

  begin(revision: Revision): void {
    assert(!this.inBetween && revision > this.#revision, 'a batch begins within another');
    this.#header = revision;
  }

  /** What waited for it is the caller's to call. */
  end(): readonly (() => void)[] {
    this.#revision = this.#header;
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  /** At once, or when the batch that is being published has reached everybody: what may be said of one revision only. */
  whole(act: () => void): void {
    if (this.inBetween) this.#waiting.push(act);
    else act();
  }
}

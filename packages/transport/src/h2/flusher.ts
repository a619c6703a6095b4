/** What has gathered bytes and sends them when told. */
export interface Flushable {
  flush(): void;
}

/**
 * Sends what all connections of a server have gathered, once the code that runs now and the promises that it settles
 * are through: the answers to one group commit leave in one write for each connection.
 *
 * Connections with answers to calls go first. Who waits for an answer has his next request ready, and the log could be
 * working on it while the events of a thousand watchers are written.
 */
export class Flusher {
  #answering: Flushable[] = [];
  #others: Flushable[] = [];
  #scheduled = false;

  /** Once for each that has something to send; a second time where an answer joins what is no answer. */
  add(output: Flushable, answers: boolean): void {
    if (!this.#scheduled) {
      this.#scheduled = true;
      process.nextTick(this.#flushAll);
    }
    (answers ? this.#answering : this.#others).push(output);
  }

  readonly #flushAll = (): void => {
    this.#scheduled = false;
    const answering = this.#answering;
    const others = this.#others;
    this.#answering = [];
    this.#others = [];
    for (const output of answering) output.flush();
    for (const output of others) output.flush();
  };
}

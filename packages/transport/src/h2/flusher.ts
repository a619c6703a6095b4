/** What has gathered bytes and sends them when told. */
export interface Flushable {
  flush(): void;
}

/**
 * Sends what all connections of a server have gathered, once the code that runs now and the promises that it settles
 * are through: the answers to one group commit leave in one write for each connection.
 */
export class Flusher {
  #dirty: Flushable[] = [];

  add(output: Flushable): void {
    if (this.#dirty.length === 0) process.nextTick(this.#flushAll);
    this.#dirty.push(output);
  }

  readonly #flushAll = (): void => {
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const output of dirty) output.flush();
  };
}

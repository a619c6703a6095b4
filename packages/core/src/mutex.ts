/** Runs one task at a time, in the order of the calls. A task that rejects does not keep the next one from running. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** The outcome of `work`, which begins when all tasks before it have settled: in a later microtask at the earliest. */
  run<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Resolves when every task that was asked for before has settled. */
  async idle(): Promise<void> {
    await this.#last;
  }
}

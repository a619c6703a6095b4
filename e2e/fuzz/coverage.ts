import { Session } from 'node:inspector/promises';

/** Block coverage of the project's own sources, as V8 counts it. */
export class Coverage implements AsyncDisposable {
  readonly #session = new Session();
  readonly #part: RegExp;
  readonly #seen = new Set<string>();

  private constructor(part: RegExp) {
    this.#part = part;
  }

  /** Covers the sources whose URL matches `part`. */
  static async start(part: RegExp): Promise<Coverage> {
    const coverage = new Coverage(part);
    coverage.#session.connect();
    await coverage.#session.post('Profiler.enable');
    await coverage.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    return coverage;
  }

  get blocks(): number {
    return this.#seen.size;
  }

  /** The blocks that ran since the last call for the first time. They count as seen from now on. */
  async fresh(): Promise<ReadonlySet<string>> {
    const fresh = new Set<string>();
    for (const block of await this.#taken()) {
      if (this.#seen.has(block)) continue;
      this.#seen.add(block);
      fresh.add(block);
    }
    return fresh;
  }

  /** The number of blocks of `wanted` that ran since the last call. Removes them from `wanted`. */
  async found(wanted: Set<string>): Promise<number> {
    let found = 0;
    for (const block of await this.#taken()) if (wanted.delete(block)) found += 1;
    return found;
  }

  async #taken(): Promise<readonly string[]> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    return result
      .filter(({ url }) => this.#part.test(url))
      .flatMap(({ scriptId, functions }) =>
        functions.flatMap(({ ranges }) =>
          ranges
            .filter(({ count }) => count > 0)
            // The order of magnitude of the count matters: a loop that runs more often than before counts as new.
            .map(
              ({ startOffset, endOffset, count }) =>
                `${scriptId} ${startOffset} ${endOffset} ${Math.floor(Math.log2(count) / 4)}`,
            ),
        ),
      );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }
}

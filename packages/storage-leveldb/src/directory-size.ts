import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@engram/core';

const AGE_MS_MAX = 1000;

/** The bytes of the files in some directories, counted at most once a second. */
export class DirectorySize {
  readonly #paths: readonly string[];
  readonly #clock: Clock;
  #bytes = 0;
  #countedMs = Number.NEGATIVE_INFINITY;

  constructor(paths: readonly string[], clock: Clock) {
    this.#paths = paths;
    this.#clock = clock;
  }

  /** The next read of `bytes` counts again. */
  forget(): void {
    this.#countedMs = Number.NEGATIVE_INFINITY;
  }

  get bytes(): number {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#countedMs >= AGE_MS_MAX) {
      this.#bytes = 0;
      for (const path of this.#paths) this.#bytes += countBytes(path);
      this.#countedMs = nowMs;
    }
    return this.#bytes;
  }
}

function countBytes(path: string): number {
  let bytes = 0;
  for (const name of readdirSync(path)) {
    // Files may disappear at any time.
    const stat = statSync(join(path, name), { throwIfNoEntry: false });
    if (stat?.isFile() === true) bytes += stat.size;
  }
  return bytes;
}

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@engram/core';

const AGE_MS_MAX = 1000;

/** The bytes of the files in a directory, counted at most once in a second: a stat for every 32 MiB. */
export class DirectorySize {
  readonly #path: string;
  readonly #clock: Clock;
  #bytes = 0;
  #countedMs = Number.NEGATIVE_INFINITY;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  get bytes(): number {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#countedMs >= AGE_MS_MAX) {
      this.#bytes = countBytes(this.#path);
      this.#countedMs = nowMs;
    }
    return this.#bytes;
  }
}

function countBytes(path: string): number {
  let bytes = 0;
  for (const name of readdirSync(path)) {
    // LevelDB removes files at any time.
    bytes += statSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}

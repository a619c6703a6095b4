import { cp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import type { CheckRequest } from './answer-checks.ts';
import { Checker } from './checker.ts';
import type { DirectoryBed } from './directory-contract.ts';

/** Damages the file at a path. Offsets beyond its end wrap around. */
export type Damage = (path: string) => Promise<void>;

export const flip =
  (offset: number, mask: number): Damage =>
  async (path) => {
    const bytes = await readFile(path);
    if (bytes.length === 0) return;
    const index = offset % bytes.length;
    bytes[index] = bytes[index]! ^ mask;
    await writeFile(path, bytes);
  };

export const zero =
  (offset: number, length: number): Damage =>
  async (path) => {
    const bytes = await readFile(path);
    const start = offset % (bytes.length + 1);
    bytes.fill(0, start, Math.min(start + length, bytes.length));
    await writeFile(path, bytes);
  };

const cut =
  (offset: number): Damage =>
  async (path) => {
    const { length } = await readFile(path);
    await truncate(path, offset % (length + 1));
  };

const offsets = fc.nat({ max: 1 << 22 });
export const damages: fc.Arbitrary<Damage> = fc.oneof(
  fc.tuple(offsets, fc.integer({ min: 1, max: 255 })).map(([offset, mask]) => flip(offset, mask)),
  fc.tuple(offsets, fc.constantFrom(1, 7, 64, 512, 4096)).map(([offset, length]) => zero(offset, length)),
  offsets.map(cut),
  fc.constant<Damage>((path) => rm(path)),
);

/** Copies of the closed storage in a bed, each damaged in its own way. */
export class DamagedCopies implements Disposable {
  readonly #bed: DirectoryBed;
  readonly #expected: Omit<CheckRequest, 'path'>;
  readonly #checker: Checker;
  #copies = 0;

  /** `module` calls `answerChecks`. */
  constructor(bed: DirectoryBed, expected: Omit<CheckRequest, 'path'>, module: URL) {
    this.#bed = bed;
    this.#expected = expected;
    this.#checker = new Checker(module);
  }

  /** Returns the path of the copy. `damage` gets this path. */
  async make(damage: Damage): Promise<string> {
    this.#copies += 1;
    const copy = join(this.#bed.path, '..', `${basename(this.#bed.path)}-copy-${this.#copies}`);
    await cp(this.#bed.path, copy, { recursive: true });
    await damage(copy);
    return copy;
  }

  /** Opens the copy and reads everything in another process, and returns the result. Removes the copy. */
  async outcome(path: string): Promise<{ readonly result: string; readonly warnings: readonly string[] }> {
    const answer = await this.#checker.check({ path, ...this.#expected });
    await rm(path, { recursive: true });
    return answer;
  }

  [Symbol.dispose](): void {
    this.#checker[Symbol.dispose]();
  }
}

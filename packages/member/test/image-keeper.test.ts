import type { SharedImageOptions } from '@engram/backend';
import { AssertionError, type LogPosition, logPosition } from '@engram/core';
import { quiet, SimClock } from '@engram/sim';
import {
  type ImageBase,
  type ImagePart,
  type ImageStatus,
  type LogHolder,
  noImageBase,
  type SharedImage,
  type Trimmed,
} from '@engram/storage';
import { expect, test } from 'vitest';
import { ImageKeeper, type ImagePolicy } from '../src/image-keeper.ts';

const policy: ImagePolicy = {
  everyBytesMin: 1000,
  everyBytesMax: 5000,
  bytesPerSecond: 100,
  pageBytes: 50,
  intervalMs: 1000,
};

/** An image that only counts the calls, and a replica of `pages` pages. */
class Bed implements SharedImage {
  readonly clock = new SimClock();
  readonly needs: number[] = [];
  readonly saved: number[] = [];
  readonly fatal: Error[] = [];
  pages = 2;
  leads: boolean;
  trims = 0;
  /** The need of the member that lags most. */
  lowest: LogPosition | undefined;
  given = 0;
  wanted = logPosition(1);
  holders: readonly LogHolder[] = [];
  readonly warnings: object[] = [];
  state: ImageStatus = { from: undefined, imageBytes: 0, logBytesBehind: 0, trimmed: logPosition(1) };
  error: Error | undefined;
  applied = logPosition(7);
  readonly keeper: ImageKeeper;

  constructor(leads = true) {
    this.leads = leads;
    this.keeper = new ImageKeeper({
      replica: this.#replica(),
      image: this,
      leads: () => this.leads,
      nameOf: (member) => (member === 2n ? 'm2' : undefined),
      policy,
      clock: this.clock,
      logger: { ...quiet, warn: (fields) => this.warnings.push(fields) },
      onFatal: (error) => this.fatal.push(error),
    });
  }

  #replica() {
    const bed = this;
    return {
      get applied() {
        return bed.applied;
      },
      get needed() {
        return bed.applied;
      },
      sharedImage: (options: SharedImageOptions) => ({ from: bed.applied, parts: () => bed.#parts(options) }),
    };
  }

  async *#parts({ pace, pageBytes }: SharedImageOptions): AsyncGenerator<ImagePart> {
    for (let page = 0; page < this.pages; page += 1) {
      await pace(pageBytes);
      this.given += 1;
      yield { kind: 'page', positions: [], records: [] };
    }
  }

  async status(): Promise<ImageStatus> {
    if (this.error !== undefined) throw this.error;
    return this.state;
  }

  async save(from: LogPosition, parts: (base: ImageBase) => AsyncIterable<ImagePart>): Promise<'published'> {
    for await (const _ of parts(noImageBase));
    this.saved.push(from);
    this.state = { ...this.state, from, logBytesBehind: 0 };
    return 'published';
  }

  async trim(): Promise<Trimmed | undefined> {
    this.trims += 1;
    return undefined;
  }

  async lowestNeed(wanted: LogPosition): Promise<LogPosition | undefined> {
    this.wanted = wanted;
    return this.lowest;
  }

  async need(from: LogPosition): Promise<void> {
    this.needs.push(from);
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      await this.clock.settle(3);
      this.clock.advance(100);
    }
    await this.clock.settle(3);
  }

  behind(logBytesBehind: number, imageBytes = 0): void {
    this.state = { ...this.state, logBytesBehind, imageBytes };
  }
}

test.each([
  { behind: 999, image: 0, due: false },
  { behind: 1000, image: 0, due: true },
  { behind: 2999, image: 3000, due: false },
  { behind: 3000, image: 3000, due: true },
  { behind: 4999, image: 90_000, due: false },
  { behind: 5000, image: 90_000, due: true },
])(
  'behind an image of $image bytes and $behind bytes of log a new one is due: $due',
  async ({ behind, image, due }) => {
    const bed = new Bed();
    bed.behind(behind, image);
    await bed.pass(3000);
    expect(bed.saved).toEqual(due ? [7] : []);
    expect(bed.trims).toBeGreaterThan(0);
    await bed.keeper[Symbol.asyncDispose]();
  },
);

test('an image is not published before all members that live have applied what it rests on', async () => {
  const bed = new Bed();
  bed.lowest = logPosition(7);
  bed.behind(1000);
  await bed.pass(1200);
  bed.applied = logPosition(20); // while the image is written
  await bed.pass(5000);
  expect(bed.given).toBe(2);
  bed.lowest = logPosition(19);
  await bed.pass(5000);
  expect(bed.saved).toEqual([]);
  bed.lowest = logPosition(20);
  bed.applied = logPosition(30); // the image does not wait for this
  await bed.pass(1000);
  expect(bed.saved).toEqual([7]);
  // No live member has to be waited for.
  bed.lowest = undefined;
  bed.behind(5000);
  await bed.pass(4000);
  expect(bed.saved).toEqual([7, 30]);
  await bed.keeper[Symbol.asyncDispose]();
});

test('a member that held the log back for too long is named once, and the image does not wait for it', async () => {
  const bed = new Bed();
  const holder = { member: 2n, from: logPosition(3), heldMs: 500, leftBehind: false };
  bed.lowest = logPosition(3);
  bed.holders = [holder];
  bed.behind(1000);
  await bed.pass(5000);
  expect(bed.wanted).toBe(7);
  expect(bed.saved).toEqual([]);
  expect(bed.warnings).toEqual([]);
  bed.lowest = undefined;
  bed.holders = [{ ...holder, heldMs: 2000, leftBehind: true }];
  await bed.pass(5000);
  expect(bed.saved).toEqual([7]);
  expect(bed.warnings).toEqual([{ member: '2', name: 'm2', needs: 3, 'held-ms': 2000 }]);
  // It came back, and holds the log back once more.
  bed.holders = [];
  await bed.pass(2000);
  bed.holders = [{ ...holder, heldMs: 3000, leftBehind: true }];
  await bed.pass(5000);
  expect(bed.warnings.length).toBe(2);
  await bed.keeper[Symbol.asyncDispose]();
});

test('a member that does not lead says what it needs, and writes and trims nothing', async () => {
  const bed = new Bed(false);
  bed.behind(1e6);
  await bed.pass(2500);
  bed.applied = logPosition(9);
  await bed.pass(1000);
  expect(bed.needs).toEqual([7, 7, 7, 9]);
  expect(bed.saved).toEqual([]);
  expect(bed.trims).toBe(0);
  await bed.keeper[Symbol.asyncDispose]();
});

test('an image is written no faster than it may, and needs are said meanwhile', async () => {
  const bed = new Bed();
  bed.pages = 20; // of 50 bytes, at 100 bytes a second
  bed.behind(1000);
  await bed.pass(9500);
  expect(bed.saved).toEqual([]);
  expect(bed.needs.length).toBeGreaterThan(8);
  await bed.pass(2500);
  expect(bed.saved).toEqual([7]);
  await bed.keeper[Symbol.asyncDispose]();
});

test('an image is given up when the leadership ends, and begun again by the next one', async () => {
  const bed = new Bed();
  bed.pages = 20;
  bed.behind(1000);
  await bed.pass(3000);
  bed.leads = false;
  await bed.pass(20_000);
  expect(bed.saved).toEqual([]);
  expect(bed.given).toBeLessThan(10);
  bed.leads = true;
  await bed.pass(15_000);
  expect(bed.saved).toEqual([7]);
  await bed.keeper[Symbol.asyncDispose]();
});

test('what fails is tried again; a broken invariant ends the node', async () => {
  const bed = new Bed();
  bed.behind(1000);
  bed.error = new Error('storage does not answer');
  await bed.pass(3000);
  expect(bed.fatal).toEqual([]);
  bed.error = undefined;
  await bed.pass(3000);
  expect(bed.saved).toEqual([7]);
  bed.error = new AssertionError('broken');
  await bed.pass(1500);
  expect(bed.fatal.length).toBeGreaterThan(0);
  await bed.keeper[Symbol.asyncDispose]();
});

test('it ends at once, whatever is under way, and does nothing afterwards', async () => {
  const bed = new Bed();
  bed.pages = 1000;
  bed.behind(1000);
  await bed.pass(2000);
  await bed.keeper[Symbol.asyncDispose]();
  const { given, needs } = bed;
  const said = needs.length;
  await bed.pass(5000);
  expect(bed.given).toBe(given);
  expect(bed.needs.length).toBe(said);
  expect(bed.saved).toEqual([]);
});

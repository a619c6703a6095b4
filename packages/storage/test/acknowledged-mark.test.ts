import { epoch, logPosition, type Logger } from '@engram/core';
import { quiet, SimClock } from '@engram/sim';
import { AcknowledgedMark, decodeMarks, encodeNumbers, MARK_FILE_BYTES, type MarkFile } from '@engram/storage';
import { beforeEach, expect, test } from 'vitest';

const NAME = 'acknowledged';
const start = { end: logPosition(1), sealed: epoch(0), checkpoint: 0 };

interface Write {
  readonly bytes: Uint8Array;
  readonly offset: number;
}

/** A file in memory whose next `failures` writes fail half way. It knows what is on the disk, and what was written since. */
class FakeFile implements MarkFile {
  bytes = new Uint8Array(0);
  disk = new Uint8Array(0);
  unsynced: Write[] = [];
  writes = 0;
  syncs = 0;
  closed = false;
  failures = 0;
  syncFailures = 0;

  async read(target: Uint8Array, offset: number): Promise<number> {
    const bytes = this.bytes.subarray(offset, offset + target.length);
    target.set(bytes);
    return bytes.length;
  }

  async write(bytes: Uint8Array, offset: number): Promise<void> {
    if (this.failures > 0) {
      this.failures -= 1;
      this.unsynced.push({ bytes: bytes.slice(0, 4), offset });
      this.bytes = written(this.bytes, this.unsynced.at(-1)!);
      throw new Error('no space');
    }
    this.unsynced.push({ bytes: bytes.slice(), offset });
    this.bytes = written(this.bytes, this.unsynced.at(-1)!);
    this.writes += 1;
  }

  async sync(): Promise<void> {
    if (this.syncFailures > 0) {
      this.syncFailures -= 1;
      throw new Error('lost');
    }
    this.syncs += 1;
    this.disk = this.bytes;
    this.unsynced = [];
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  get says(): unknown {
    return decodeMarks(NAME, this.bytes);
  }

  /**
   * What a loss of power may leave: of each page, of 512 or 4096 bytes, what it was before or after any of the writes;
   * also a part of a write; and any of the lengths.
   */
  *afterPowerLoss(): Generator<Uint8Array> {
    const versions = [this.disk];
    for (const write of this.unsynced) {
      const before = versions.at(-1)!;
      for (const cut of [3, 20, write.bytes.length])
        versions.push(written(before, { ...write, bytes: write.bytes.subarray(0, cut) }));
    }
    for (const page of [512, 4096]) {
      for (const first of versions) {
        for (const second of versions) {
          const mixed = first.slice(0, page);
          const state = new Uint8Array(Math.max(first.length, second.length));
          state.set(mixed);
          if (second.length > page) state.set(second.subarray(page), page);
          yield state;
          yield state.subarray(0, this.disk.length);
        }
      }
    }
  }
}

function written(before: Uint8Array, { bytes, offset }: Write): Uint8Array<ArrayBuffer> {
  const after = new Uint8Array(Math.max(before.length, offset + bytes.length));
  after.set(before);
  after.set(bytes, offset);
  return after;
}

let file: FakeFile;
let clock: SimClock;
let warnings: string[];
beforeEach(() => {
  file = new FakeFile();
  clock = new SimClock();
  warnings = [];
});

/** Lets all that was begun end. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

function open(state = start): Promise<AcknowledgedMark> {
  const keep = (_fields: object, message: string): void => void warnings.push(message);
  const logger: Logger = { debug: () => {}, info: () => {}, warn: keep, error: keep };
  return AcknowledgedMark.open({ name: NAME, file, clock, logger }, state);
}

test('is there from the beginning', async () => {
  const mark = await open();
  expect(file.says).toEqual(start);
  expect(file.bytes.length).toBe(MARK_FILE_BYTES);
  expect(file.unsynced).toEqual([]);
  await mark.close();
});

test('follows many steps with one write, 100 ms later', async () => {
  const mark = await open();
  for (let end = 2; end <= 50; end += 1) mark.advance({ end: logPosition(end) });
  mark.advance({ sealed: epoch(3) });
  mark.advance({ checkpoint: 7 });
  expect(clock.advance(99)).toBe(0);
  expect(file.says).toEqual(start);
  const before = file.writes;
  expect(clock.advance(1)).toBe(1);
  mark.advance({ end: logPosition(51) });
  expect(clock.advance(100)).toBe(1);
  await mark.close();
  expect(file.writes - before).toBeLessThanOrEqual(2);
  expect(file.says).toEqual({ end: 51, sealed: 3, checkpoint: 7 });
});

test('is up to date and synced when it is closed, and needs the clock no more', async () => {
  const mark = await open();
  mark.advance({ end: logPosition(9) });
  await mark.close();
  expect(file).toMatchObject({ says: { ...start, end: 9 }, unsynced: [], closed: true });
  expect(clock.advance(1000)).toBe(0);
});

test('leaves both marks up to date when it is closed', async () => {
  const mark = await open();
  mark.advance({ end: logPosition(9) });
  clock.advance(100);
  await settled();
  clock.advance(1000);
  await settled();
  mark.advance({ end: logPosition(11) });
  await mark.close();
  for (const place of [0, 4096]) {
    const alone = new Uint8Array(file.bytes.length);
    alone.set(file.bytes.subarray(place, place + 29), place);
    expect(decodeMarks(NAME, alone)).toEqual({ ...start, end: 11 });
  }
});

test('never goes back, and is not changed by the attempt', async () => {
  const mark = await open({ ...start, end: logPosition(5) });
  expect(() => mark.advance({ end: logPosition(4), checkpoint: 1 })).toThrow(/taken back/);
  await mark.close();
  expect(file.says).toEqual({ ...start, end: 5 });
});

test('a write that fails ends nothing: it is said, and the next one has all of it', async () => {
  const mark = await open();
  file.failures = 1;
  mark.advance({ end: logPosition(9) });
  clock.advance(100);
  await mark.close();
  expect(warnings).toEqual([`cannot write ${NAME}`]);
  expect(file).toMatchObject({ says: { ...start, end: 9 }, closed: true });
});

test('a file that takes nothing any more is closed all the same', async () => {
  const mark = await open();
  file.failures = Number.POSITIVE_INFINITY;
  mark.advance({ end: logPosition(9) });
  await mark.close();
  expect(file).toMatchObject({ says: start, closed: true });
});

test('where writes fail half way, one mark stays whole, whatever is synced between them', async () => {
  const mark = await open();
  mark.advance({ end: logPosition(5) });
  clock.advance(100);
  await settled();
  file.failures = Number.POSITIVE_INFINITY;
  for (let end = 6; end < 40; end += 1) {
    mark.advance({ end: logPosition(end) });
    clock.advance(100);
    await settled();
    expect(file.says).toEqual(start);
  }
  file.failures = 0;
  mark.advance({ end: logPosition(40) });
  clock.advance(100);
  await settled();
  expect(file.says).toEqual({ ...start, end: 40 });
  await mark.close();
  expect(file.unsynced).toEqual([]);
});

test('where it cannot be written at the beginning, the file is closed', async () => {
  file.failures = 1;
  await expect(open()).rejects.toThrow('no space');
  expect(file.closed).toBe(true);
});

test('waits a second for its sync, and is not synced while nothing is acknowledged', async () => {
  const mark = await open();
  const { syncs } = file;
  for (let end = 2; end <= 31; end += 1) {
    mark.advance({ end: logPosition(end) });
    clock.advance(100);
    await settled();
  }
  expect(file.syncs - syncs).toBe(2);
  clock.advance(10_000);
  await settled();
  expect(file.syncs - syncs).toBe(3);
  expect(file.unsynced).toEqual([]);
  clock.advance(10_000);
  await settled();
  expect(file.syncs - syncs).toBe(3);
  await mark.close();
});

test('whatever a loss of power leaves of the file, one mark is whole, and is at most a second old', async () => {
  let states = 0;
  let mark = await open();
  // The ends that the marks on the disk had when the last and the next to last second began.
  let known = 1;
  let beforeKnown = 1;
  for (let end = 2; end <= 160; end += 1) {
    mark.advance({ end: logPosition(end) });
    clock.advance(end % 3 === 0 ? 100 : 37);
    await settled();
    if (end % 40 === 0) {
      await mark.close();
      mark = await open({ ...start, end: logPosition(end) });
    }
    if (file.unsynced.length === 0) [beforeKnown, known] = [known, end];
    if (end % 7 !== 0) continue;
    for (const bytes of file.afterPowerLoss()) {
      states += 1;
      const says = decodeMarks(NAME, bytes);
      if (says === undefined || says === 'damaged') throw new Error(`no mark at ${end}`);
      if (says.end < beforeKnown - 1 || says.end > end) throw new Error(`${says.end} at ${end}`);
    }
  }
  expect(states).toBeGreaterThan(10_000);
});

test('whatever a loss of power leaves while it is opened, a mark that was whole stays', async () => {
  await (await open({ ...start, end: logPosition(7) })).close();
  const whole = file.bytes;
  for (const torn of [undefined, 0, 4096]) {
    let step = 0;
    for (let ended = false; !ended; step += 1) {
      file = new FakeFile();
      file.bytes = torn === undefined ? whole.slice() : written(whole, { bytes: new Uint8Array(29), offset: torn });
      // One mark is in the system's cache only, as a killed process leaves it.
      file.disk = torn === undefined ? written(whole, { bytes: Uint8Array.of(9), offset: 0 }) : file.bytes;
      if (torn === undefined) file.unsynced = [{ bytes: whole.slice(0, 29), offset: 0 }];
      const fake = file;
      let left = step;
      const stopping =
        <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
        async (...args: Args): Promise<Result> => {
          if (left === 0) throw new Error('the power is lost');
          left -= 1;
          return work.apply(fake, args);
        };
      const stopped = {
        read: fake.read.bind(fake),
        write: stopping(fake.write),
        sync: stopping(fake.sync),
        close: async () => {},
      };
      const opened = AcknowledgedMark.open(
        { name: NAME, file: stopped, clock, logger: quiet },
        { ...start, end: logPosition(8) },
      );
      ended = await opened.then(
        () => true,
        () => false,
      );
      for (const bytes of fake.afterPowerLoss()) {
        const says = decodeMarks(NAME, bytes);
        if (says === undefined || says === 'damaged') throw new Error(`no mark after ${step} steps, torn at ${torn}`);
        expect(says.end).toBeGreaterThanOrEqual(7);
      }
    }
    expect(step).toBeGreaterThan(4);
  }
});

test('a mark whose sync fails is not taken for durable', async () => {
  const mark = await open();
  mark.advance({ end: logPosition(9) });
  clock.advance(100);
  await settled();
  file.syncFailures = 1;
  clock.advance(1000);
  await settled();
  expect(warnings).toEqual([`cannot write ${NAME}`]);
  // The disk has lost what it did not take, and the system does not know.
  file.bytes = file.disk.slice();
  file.unsynced = [];
  await mark.close();
  expect(decodeMarks(NAME, file.disk)).toEqual({ ...start, end: 9 });
});

test('the file of an earlier program has one mark, and gets the other', async () => {
  const earlier = encodeNumbers(NAME, [5, 2, 1]);
  expect(decodeMarks(NAME, earlier)).toEqual({ end: 5, sealed: 2, checkpoint: 1 });
  await file.write(earlier, 0);
  const mark = await open({ end: logPosition(6), sealed: epoch(2), checkpoint: 1 });
  await mark.close();
  for (const place of [0, 4096]) {
    const alone = new Uint8Array(file.bytes.length);
    alone.set(file.bytes.subarray(place, place + 29), place);
    expect(decodeMarks(NAME, alone)).toEqual({ end: 6, sealed: 2, checkpoint: 1 });
  }
});

test.each([
  { bytes: [1, 2, 3], why: 'too short' },
  { bytes: new Array<number>(29).fill(7), why: 'of the right length, and wrong' },
])('a file that says nothing is damaged: $why', ({ bytes }) => {
  expect(decodeMarks(NAME, Uint8Array.from(bytes))).toBe('damaged');
});

test.each([0, 29, MARK_FILE_BYTES])('a file of %i bytes to which nothing was written has no mark', (length) => {
  expect(decodeMarks(NAME, new Uint8Array(length))).toBeUndefined();
});

test('bytes behind the marks say nothing', async () => {
  const mark = await open();
  await mark.close();
  expect(decodeMarks(NAME, Buffer.concat([file.bytes, Buffer.from('more')]))).toEqual(start);
  expect(decodeMarks('another', file.bytes)).toBe('damaged');
});

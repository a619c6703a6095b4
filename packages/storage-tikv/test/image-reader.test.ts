import { type LogPosition, logPosition } from '@engram/core';
import { unhurried } from '@engram/loop';
import type { TikvClient } from '@engram/tikv-client';
import { expect, test } from 'vitest';
import { emptyChain } from '../src/format/chain.ts';
import { encodePage, PlacesBuilder } from '../src/image/image-page.ts';
import type { ImagePieces } from '../src/image/image-pieces.ts';
import { ImageReader, type ImageReaderOptions } from '../src/image/image-reader.ts';
import type { Image, PieceTotals } from '../src/format/image-root.ts';
import { type ImageKind, LogKeys } from '../src/format/log-keys.ts';

const RECORDS = 10_000;
const PAGE_RECORDS = 100;
const RECORD_BYTES = 50;
const never = new AbortController().signal;

/** Pieces in memory. It counts fetches, and holds them until `held` resolves. */
class CountedPieces implements ImagePieces {
  readonly #pieces = new Map<string, Uint8Array>();
  readonly image: Image;
  running = 0;
  runningMax = 0;
  fetched = 0;
  held: Promise<void> | undefined;

  constructor() {
    const places = new PlacesBuilder();
    let pages = 0;
    for (let from = 1; from <= RECORDS; from += PAGE_RECORDS, pages += 1) {
      const positions = Array.from({ length: PAGE_RECORDS }, (_, at) => logPosition(from + at));
      for (const position of positions) places.add(position, pages);
      this.#pieces.set(`page ${pages}`, encodePage(positions, positions.map(recordOf)));
    }
    let count = 0;
    for (const piece of places.pieces(unhurried)) if (piece !== undefined) this.#pieces.set(`places ${count++}`, piece);
    const none: PieceTotals = { count: 0, bytes: 0, hash: '' };
    const totals = { chunk: none, page: { ...none, count: pages }, places: { ...none, count }, directory: none };
    this.image = { round: 1, from: logPosition(RECORDS + 1), logBytes: 1, records: RECORDS, totals };
  }

  async fetch(kind: ImageKind, numbers: readonly number[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    this.running += 1;
    this.runningMax = Math.max(this.runningMax, this.running);
    this.fetched += numbers.length;
    await this.held;
    await new Promise((resolve) => setImmediate(resolve));
    this.running -= 1;
    signal.throwIfAborted();
    return numbers.map((number) => this.#pieces.get(`${kind} ${number}`)!);
  }

  reader(fetchesMax: number, bytesMax = 1 << 24, other: Partial<ImageReaderOptions> = {}): ImageReader {
    const source = {
      client: {} as TikvClient,
      keys: new LogKeys('test'),
      empty: emptyChain(1n),
      name: 'log',
      timeoutMs: 1,
    };
    return new ImageReader({ source, image: this.image, pieces: this, bytesMax, fetchesMax, ...other });
  }
}

const recordOf = (position: LogPosition): Uint8Array => {
  const record = Buffer.alloc(RECORD_BYTES);
  record.writeUInt32LE(position);
  return record;
};

const everyThird = Array.from({ length: Math.floor(RECORDS / 3) }, (_, at) => logPosition(1 + 3 * at));

async function check(reader: ImageReader, signal: AbortSignal = never): Promise<void> {
  const found = new Map<LogPosition, Uint8Array>();
  await reader.find(everyThird, found, signal);
  expect(found.size).toBe(everyThird.length);
  for (const [position, record] of found) expect(Buffer.from(record).readUInt32LE()).toBe(position);
}

test.each([1, 8])('with %i fetches at a time no more run, and all that is asked for is found', async (fetchesMax) => {
  const pieces = new CountedPieces();
  await check(pieces.reader(fetchesMax));
  expect(pieces.runningMax).toBe(fetchesMax);
});

test('a hundred who ask for the same are bounded together, and fetch little more than one', async () => {
  const pieces = new CountedPieces();
  const reader = pieces.reader(4);
  await check(reader);
  const alone = pieces.fetched;
  const other = new CountedPieces();
  const shared = other.reader(4);
  await Promise.all(Array.from({ length: 100 }, () => check(shared)));
  expect(other.runningMax).toBe(4);
  expect(other.fetched).toBeLessThan(2 * alone);
});

test('who no longer waits for its turn is gone at once, fetches nothing, and leaves nothing under way', async () => {
  const pieces = new CountedPieces();
  const reader = pieces.reader(1);
  const held = Promise.withResolvers<void>();
  pieces.held = held.promise;
  const asked = check(reader);
  const late = new AbortController();
  const other = check(reader, late.signal);
  late.abort(new Error('too late'));
  await expect(other).rejects.toThrow('too late');
  const before = pieces.fetched;
  await expect(check(reader, late.signal)).rejects.toThrow('too late');
  expect(pieces.fetched).toBe(before);
  held.resolve();
  await asked;
  expect(pieces.running).toBe(0);
  // The turns are free again.
  await check(reader);
});

test('who no longer waits for a fetch begins no other', async () => {
  const pieces = new CountedPieces();
  const reader = pieces.reader(1);
  const held = Promise.withResolvers<void>();
  pieces.held = held.promise;
  const late = new AbortController();
  const asked = check(reader, late.signal);
  const before = pieces.fetched;
  late.abort(new Error('too late'));
  held.resolve();
  await expect(asked).rejects.toThrow('too late');
  expect(pieces.fetched).toBe(before);
  expect(pieces.running).toBe(0);
});

test('a fetch ahead that fails while its chunks are not asked for is told to who asks for them, and to nobody else', async () => {
  const pieces = new CountedPieces();
  const cause = new Error('the store does not answer');
  const ahead: ImagePieces = {
    async fetch(_, numbers) {
      if (numbers[0] !== 0) throw cause;
      return numbers.map(() => new Uint8Array(1));
    },
  };
  const { image } = pieces;
  const many = { ...image, totals: { ...image.totals, chunk: { count: 20, bytes: 20, hash: '' } } };
  const chunks = pieces.reader(1, 1, { image: many, pieces: ahead }).chunks(never);
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  const read = async (): Promise<void> => {
    for await (const _ of chunks) await new Promise((resolve) => setImmediate(resolve));
  };
  await expect(read()).rejects.toBe(cause);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

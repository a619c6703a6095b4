import { createHash } from 'node:crypto';
import { epoch, logPosition } from '@engram/core';
import { StepPace, unhurried } from '@engram/loop';
import { Prng } from '@engram/sim';
import { describe, expect, test } from 'vitest';
import {
  decodeDirectory,
  DIRECTORY_ENTRIES,
  encodeDirectory,
  type PageEntry,
  positionsHash,
  PublishedPages,
} from '../src/image/image-directory.ts';
import { decodePage, encodePage, findPlace, PlacesBuilder, placesCount, placesOf } from '../src/image/image-page.ts';
import { decodePiecePart, encodePiece } from '../src/format/image-piece.ts';
import {
  decodeImageRoot,
  EMPTY_IMAGE_ROOT,
  encodeImageRoot,
  type ImageRoot,
  NO_PIECES,
  PieceHash,
} from '../src/format/image-root.ts';
import { type ImageKey, LogKeys } from '../src/format/log-keys.ts';

const at = logPosition;
const keys = new LogKeys('test');

function bytesOf(random: Prng, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256));
}

describe('keys of an image', () => {
  test('are in the order of round, kind, number and part, and say what they are of', () => {
    const names: ImageKey[] = [];
    for (const round of [1, 2, 255, 256, 2 ** 40])
      for (const kind of ['chunk', 'page', 'places', 'directory'] as const)
        for (const number of [0, 1, 256]) for (const part of [0, 1, 256]) names.push({ round, kind, number, part });
    const made = names.map((name) => keys.piece(name));
    expect(made.toSorted(Buffer.compare)).toEqual(made);
    expect(made.map((key) => keys.parsePiece(key))).toEqual(names);
    for (const [index, { round }] of names.entries()) {
      expect(Buffer.compare(keys.roundStart(round), made[index]!)).toBe(-1);
      expect(Buffer.compare(made[index]!, keys.roundStart(round + 1))).toBe(-1);
    }
  });

  test('are not those of another prefix, of the log, or of another kind', () => {
    const key = keys.piece({ round: 1, kind: 'page', number: 2, part: 0 });
    expect(new LogKeys('other').parsePiece(key)).toBeUndefined();
    expect(keys.parse(key)).toBeUndefined();
    expect(keys.parsePiece(keys.slot(1, 1))).toBeUndefined();
    const unknown = key.slice();
    unknown[unknown.length - 11] = 9;
    expect(keys.parsePiece(unknown)).toBeUndefined();
  });
});

describe('a piece', () => {
  const name = { round: 3, kind: 'page', number: 7 } as const;

  test.each([0, 1, 67, 68, 69, 136, 137, 1000])('of %i bytes is there again, in parts', (length) => {
    const payload = bytesOf(new Prng(length), length);
    const parts = encodePiece(name, payload, 100).map((value, part) => decodePiecePart({ ...name, part }, value));
    expect(parts.every((part) => part?.parts === parts.length)).toBe(true);
    expect(Buffer.concat(parts.map((part) => part!.payload))).toEqual(Buffer.from(payload));
  });

  test('is refused where any bit has changed, where it is cut off, and under any other name', () => {
    const [value] = encodePiece(name, bytesOf(new Prng(1), 20), 100);
    for (let bit = 0; bit < value!.length * 8; bit += 1) {
      const damaged = value!.slice();
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      expect(decodePiecePart({ ...name, part: 0 }, damaged)).toBeUndefined();
    }
    for (let length = 0; length < value!.length; length += 1)
      expect(decodePiecePart({ ...name, part: 0 }, value!.slice(0, length))).toBeUndefined();
    for (const other of [{ round: 4 }, { kind: 'chunk' as const }, { number: 8 }, { part: 1 }])
      expect(decodePiecePart({ ...name, part: 0, ...other }, value!)).toBeUndefined();
  });
});

describe('a page', () => {
  test('has the records that it was given, by their positions', () => {
    const random = new Prng(5);
    for (let run = 0; run < 50; run += 1) {
      const count = random.below(40);
      const positions = Array.from({ length: count }, (_, index) => at(1 + index * 7 + random.below(7)));
      const records = positions.map(() => bytesOf(random, random.below(30)));
      const page = decodePage(encodePage(positions, records))!;
      expect(page.size).toBe(count);
      for (const [index, position] of positions.entries()) expect(page.get(position)).toEqual(records[index]);
    }
  });

  test('is refused where it is cut off, or longer than it says', () => {
    const page = encodePage([at(1), at(9)], [Uint8Array.of(1, 2), Uint8Array.of(3)]);
    for (let length = 0; length < page.length; length += 1) expect(decodePage(page.slice(0, length))).toBeUndefined();
    expect(decodePage(Buffer.concat([page, Uint8Array.of(0)]))).toBeUndefined();
  });
});

describe('places', () => {
  test.each([0, 1, 5, 4096, 4097, 20_000])('of %i records name the page of each, and of no other position', (count) => {
    const random = new Prng(count);
    const pages = new Map<number, number>();
    const builder = new PlacesBuilder();
    for (let position = 1; pages.size < count; position += 1 + random.below(3)) pages.set(position, random.below(50));
    for (const [position, page] of pages) builder.add(at(position), page);
    const pieces = [...builder.pieces(unhurried)].filter((piece) => piece !== undefined);
    expect(pieces.length).toBe(placesCount(count));
    const largest = Math.max(0, ...pages.keys());
    for (let position = 1; position <= largest + 10; position += 1) {
      const found = count === 0 ? undefined : findPlace(pieces[placesOf(at(position), pieces.length)]!, at(position));
      if (found !== pages.get(position)) expect.fail(`position ${position}: ${found}, not ${pages.get(position)}`);
    }
  });

  test('are the same where building them gives way after each record', () => {
    const builder = new PlacesBuilder();
    for (let position = 1; position <= 5000; position += 1) builder.add(at(position), position % 7);
    const parts = [...builder.pieces(new StepPace(0))];
    expect(parts.filter((part) => part === undefined).length).toBe(2 * 5000);
    expect(parts.filter((part) => part !== undefined)).toEqual([...builder.pieces(unhurried)]);
  });

  test('are spread evenly, also where only every other position has a record', () => {
    for (const stride of [1, 2, 3, 64, 128, 1000]) {
      const builder = new PlacesBuilder();
      for (let index = 1; index <= 100_000; index += 1) builder.add(at(index * stride), 0);
      const sizes = [...builder.pieces(unhurried)].flatMap((piece) => (piece === undefined ? [] : [piece.length / 10]));
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(100_000);
      expect(Math.max(...sizes)).toBeLessThan(4096 * 2);
    }
  });
});

describe('a directory', () => {
  const random = new Prng(3);
  const positionsOf = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) => at(first + index * 3));
  const entries: PageEntry[] = Array.from({ length: DIRECTORY_ENTRIES + 5 }, (_, index) => {
    const positions = positionsOf(1 + index * 40, 1 + random.below(5));
    return {
      round: random.below(2 ** 40),
      number: random.below(2 ** 32),
      records: positions.length,
      first: positions[0]!,
      bytes: random.below(2 ** 33),
      hash: positionsHash(positions),
    };
  });

  test.each([0, 1, DIRECTORY_ENTRIES, DIRECTORY_ENTRIES + 5])('of %i pages is there again, in pieces', (count) => {
    const pieces = [...encodeDirectory(entries.slice(0, count))];
    expect(pieces.length).toBe(Math.ceil(count / DIRECTORY_ENTRIES));
    expect(decodeDirectory(pieces)).toEqual(entries.slice(0, count));
  });

  test('is refused where it is cut off', () => {
    const [piece] = encodeDirectory(entries.slice(0, 2));
    for (let length = 1; length < piece!.length; length += 1)
      expect(decodeDirectory([piece!.slice(0, length)])?.length).toBe(length === piece!.length / 2 ? 1 : undefined);
  });

  test('has the pages of just those records, in their order', () => {
    const pages = new PublishedPages([
      { ...entries[0]!, first: at(7), records: 3, hash: positionsHash([7, 9, 8].map(at)) },
    ]);
    const has = (...positions: number[]): boolean => pages.has(positions.map(at));
    expect(has(7, 9, 8)).toBe(true);
    expect(pages.recordsFrom(at(7))).toBe(3);
    expect(pages.recordsFrom(at(9))).toBe(0);
    for (const others of [[], [7], [7, 9], [7, 8, 9], [7, 9, 10], [9, 8, 7], [7, 9, 8, 11]])
      expect(has(...others)).toBe(false);
  });
});

describe('the root', () => {
  const hash = new PieceHash();
  hash.add(Uint8Array.of(1));
  const totals = { chunk: hash.totals, page: hash.totals, places: new PieceHash().totals, directory: hash.totals };
  const full: ImageRoot = {
    image: { round: 4, from: at(1000), logBytes: 99, records: 12, totals },
    claim: { round: 5, epoch: epoch(7), opener: 0xffff_ffff_ffff_ffffn },
    trimmed: at(900),
    segment: 3,
    deleted: 2,
  };

  test.each([EMPTY_IMAGE_ROOT, full, { ...full, image: undefined }, { ...full, claim: undefined }])(
    'is there again',
    (root) => {
      expect(decodeImageRoot(encodeImageRoot(root))).toEqual(root);
    },
  );

  test('of the first format has images without a directory', () => {
    const value = encodeImageRoot({ ...full, image: { ...full.image!, totals: { ...totals, directory: NO_PIECES } } });
    const text = Buffer.from(value).toString().split('\n')[0]!;
    const { chunk, page, places } = totals;
    const image = { ...full.image, totals: { chunk, page, places } };
    const older = JSON.stringify({ ...JSON.parse(text), format: 1, image });
    const hash = createHash('sha256').update(older).digest('hex').slice(0, 32);
    expect(decodeImageRoot(Buffer.from(`${older}\n${hash}\n`))).toEqual(decodeImageRoot(value));
  });

  test('that does not say which segments are deleted begins with the first one', () => {
    const text = Buffer.from(encodeImageRoot(full)).toString().split('\n')[0]!;
    const { deleted: _, ...older } = JSON.parse(text);
    const line = JSON.stringify(older);
    const hash = createHash('sha256').update(line).digest('hex').slice(0, 32);
    expect(decodeImageRoot(Buffer.from(`${line}\n${hash}\n`))).toEqual({ ...full, deleted: 1 });
  });

  test('is refused where any bit has changed, and where it is cut off', () => {
    const value = encodeImageRoot(full);
    for (let bit = 0; bit < (value.length - 1) * 8; bit += 1) {
      const damaged = value.slice();
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      expect(decodeImageRoot(damaged)).toBeUndefined();
    }
    for (let length = 0; length < value.length - 1; length += 1)
      expect(decodeImageRoot(value.slice(0, length))).toBeUndefined();
  });
});

test('the hash of pieces tells their order and their bounds apart', () => {
  const of = (...pieces: readonly number[][]): string => {
    const hash = new PieceHash();
    for (const piece of pieces) hash.add(Uint8Array.from(piece));
    return hash.totals.hash;
  };
  const hashes = [of(), of([]), of([1, 2]), of([1], [2]), of([2], [1]), of([1, 2], [])];
  expect(new Set(hashes).size).toBe(hashes.length);
});

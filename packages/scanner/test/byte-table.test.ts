import fc from 'fast-check';
import { logPosition } from '@engram/core';
import { expect, test } from 'vitest';
import { ByteTable, SLAB_BYTES_MAX } from '../src/byte-table.ts';

const bytesOf = (seed: number, length: number): Uint8Array => new Uint8Array(length).map((_, at) => seed * 31 + at);

test('what is put in comes back, near 0 and beyond 32 bits', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(fc.nat(300), fc.boolean(), fc.nat(6), fc.nat(9_000)), {
        selector: ([low, high]) => `${low} ${high}`,
        maxLength: 200,
      }),
      fc.constantFrom(64, 4096, SLAB_BYTES_MAX),
      (entries, slabBytes) => {
        const table = new ByteTable(slabBytes);
        const model = new Map<number, Uint8Array>();
        for (const [low, high, power, size] of entries) {
          const position = logPosition(1 + low + (high ? 2 ** 32 : 0));
          const length = size >> power;
          const bytes = bytesOf(low, length);
          expect(table.has(position)).toBe(false);
          table.copy(position, bytes);
          model.set(position, bytes);
        }
        for (const [position, bytes] of model) expect(table.get(logPosition(position))).toEqual(bytes);
        expect(table.size).toBe(model.size);
        expect(table.get(logPosition(2 ** 40))).toBeUndefined();
      },
    ),
  );
});

test('a copy is its own: whoever gave the bytes may go on with them', () => {
  const table = new ByteTable(1024);
  const bytes = Uint8Array.of(1, 2, 3);
  table.copy(logPosition(1), bytes);
  bytes.fill(9);
  expect(table.get(logPosition(1))).toEqual(Uint8Array.of(1, 2, 3));
});

test('it counts the slabs once, and the table', () => {
  const table = new ByteTable(SLAB_BYTES_MAX);
  for (let at = 0; at < 100; at += 1) table.copy(logPosition(at + 1), new Uint8Array(600));
  expect(table.bytes).toBe(SLAB_BYTES_MAX + 256 * 16);
});

test('a slab is counted once also where records with slabs of their own come between', () => {
  const table = new ByteTable(SLAB_BYTES_MAX);
  for (let at = 0; at < 50; at += 1) {
    table.copy(logPosition(2 * at + 1), new Uint8Array(600));
    table.copy(logPosition(2 * at + 2), new Uint8Array(5_000));
  }
  expect(table.bytes).toBe(SLAB_BYTES_MAX + 50 * 5_000 + 256 * 16);
});

test('a table grows a little with each entry, and has all of them meanwhile', () => {
  const table = new ByteTable(SLAB_BYTES_MAX);
  const add = (at: number): void => table.copy(logPosition(at), new Uint8Array(4));
  const rowsHeld = (): number => (table.bytes - SLAB_BYTES_MAX) / 16;
  for (let at = 1; at <= 512; at += 1) add(at);
  expect(rowsHeld()).toBe(1024);
  const held: number[] = [];
  for (let at = 513; at <= 1024; at += 1) {
    add(at);
    held.push(rowsHeld());
    // Old positions, positions that were looked up before they were moved, and the newest.
    for (const asked of [1, at - 300, at]) expect(table.get(logPosition(asked))?.byteOffset).toBe(8 * (asked - 1));
    expect(table.has(logPosition(at + 1))).toBe(false);
  }
  // The 1024 old rows are moved eight at a time, while the 2048 new rows exist.
  expect(held.filter((rows) => rows === 3072).length).toBe(127);
  expect(held.lastIndexOf(3072)).toBe(126);
  for (let at = 1; at <= 1024; at += 1) expect(table.get(logPosition(at))?.byteOffset).toBe(8 * (at - 1));
  expect(() => add(7)).toThrow('has bytes already');
});

test('a position is put in once, also while the table grows', () => {
  const table = new ByteTable(1024);
  for (let at = 1; at <= 9; at += 1) table.copy(logPosition(at), Uint8Array.of(at));
  expect(() => table.copy(logPosition(2), Uint8Array.of(1))).toThrow('has bytes already');
});

test('a position is put in once', () => {
  const table = new ByteTable(1024);
  table.copy(logPosition(1), Uint8Array.of(1));
  expect(() => table.copy(logPosition(1), Uint8Array.of(1))).toThrow('has bytes already');
});

test('what moves lies behind what was copied last, and a view from before keeps its bytes', () => {
  const table = new ByteTable(1024);
  for (const position of [1, 2, 3]) table.copy(logPosition(position), bytesOf(position, 16));
  const before = table.get(logPosition(1))!;
  table.move(logPosition(1));
  table.copy(logPosition(4), bytesOf(4, 16));
  expect([1, 2, 3, 4].map((position) => table.get(logPosition(position))?.byteOffset)).toEqual([48, 16, 32, 64]);
  for (const position of [1, 2, 3, 4]) expect(table.get(logPosition(position))).toEqual(bytesOf(position, 16));
  expect(before).toEqual(bytesOf(1, 16));
  expect(table.size).toBe(4);
});

test('nothing moves that is not there, or that has a slab of its own', () => {
  const table = new ByteTable(1024);
  table.copy(logPosition(1), bytesOf(1, 500));
  const { bytes } = table;
  const place = table.get(logPosition(1))!.buffer;
  table.move(logPosition(1));
  table.move(logPosition(2));
  expect(table.get(logPosition(1))!.buffer).toBe(place);
  expect(table.has(logPosition(2))).toBe(false);
  expect(table.bytes).toBe(bytes);
});

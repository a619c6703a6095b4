import { ByteViews } from '@engram/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

test('gives back what was put in, in whatever order it came', () => {
  const piece = fc.record({ buffer: fc.nat({ max: 3 }), offset: fc.nat({ max: 90 }), length: fc.nat({ max: 10 }) });
  fc.assert(
    fc.property(fc.array(fc.array(piece, { maxLength: 100 }), { maxLength: 4 }), fc.nat(), (slices, cut) => {
      const buffers = [0, 1, 2, 3].map((first) => Uint8Array.from({ length: 100 }, (_, at) => first * 100 + at));
      const views = new ByteViews();
      const model: Uint8Array[] = [];
      for (const slice of slices) {
        const first = views.extend(slice.length);
        expect(first).toBe(model.length);
        for (let at = slice.length - 1; at >= 0; at -= 1) {
          const { buffer, offset, length } = slice[at]!;
          const view = buffers[buffer]!.subarray(offset, offset + length);
          model[first + at] = view;
          views.setView(first + at, view);
        }
      }
      const check = (): void => {
        expect([...views]).toEqual(model);
        expect(model.map((_, index) => views.lengthOf(index))).toEqual(model.map(({ length }) => length));
        expect(views.bytes).toBe(model.reduce((sum, { length }) => sum + length, 0));
      };
      check();
      model.length = Math.min(model.length, cut % 50);
      views.truncate(model.length);
      check();
      expect([...ByteViews.of(model)]).toEqual(model);
    }),
  );
});

test('a place is set once, and only where there is one', () => {
  const views = new ByteViews();
  expect(() => views.setView(0, Uint8Array.of(1))).toThrow('none, or is set already');
  views.extend(1);
  views.setView(0, Uint8Array.of(1));
  expect(() => views.setView(0, Uint8Array.of(2))).toThrow('none, or is set already');
  expect(() => views.view(1)).toThrow('is none');
});

test.each([
  {
    places: [
      [0, 0, 8],
      [0, 8, 5],
      [0, 16, 4],
    ],
    gapMax: 7,
    breaks: 0,
    why: 'each begins where the last ends, but for the gap',
  },
  {
    places: [
      [0, 0, 8],
      [0, 8, 5],
      [0, 16, 4],
    ],
    gapMax: 2,
    breaks: 1,
    why: 'a gap of three',
  },
  {
    places: [
      [0, 16, 4],
      [0, 8, 8],
      [0, 0, 8],
    ],
    gapMax: 7,
    breaks: 2,
    why: 'they go backwards',
  },
  {
    places: [
      [0, 0, 8],
      [1, 8, 8],
      [1, 16, 8],
    ],
    gapMax: 7,
    breaks: 1,
    why: 'another buffer',
  },
  { places: [[0, 0, 8]], gapMax: 7, breaks: 0, why: 'nothing is before the first' },
])('$places has $breaks breaks: $why', ({ places, gapMax, breaks }) => {
  const buffers = [new ArrayBuffer(64), new ArrayBuffer(64)];
  const views = new ByteViews();
  views.extend(places.length);
  for (const [index, [buffer, offset, length]] of places.entries()) {
    views.set(index, buffers[buffer!]!, offset!, length!);
  }
  expect(views.breaks(0, places.length, gapMax)).toBe(breaks);
});

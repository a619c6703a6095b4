import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DeadRecords } from '../src/format/dead-records.ts';
import { FRAME_HEADER_BYTES, RECORD_HEADER_BYTES, SEGMENT_HEADER_BYTES } from '../src/format/layout.ts';
import { RecordTable } from '../src/format/record-table.ts';

interface Entry {
  readonly position: number;
  readonly offset: number;
  readonly end: number;
  readonly frame: number;
}

/** Frames with records of these lengths and gaps between their positions. */
const frames = fc.array(
  fc.record({
    gap: fc.nat({ max: 5 }),
    lengths: fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 6 }),
  }),
  { maxLength: 300, size: 'max' },
);

function build(sparse: boolean, from: number, list: readonly { gap: number; lengths: readonly number[] }[]) {
  const table = new RecordTable(SEGMENT_HEADER_BYTES, sparse);
  const entries: Entry[] = [];
  let position = from;
  let offset = SEGMENT_HEADER_BYTES;
  for (const [frame, { gap, lengths }] of list.entries()) {
    if (sparse) position += gap;
    table.beginFrame();
    offset += FRAME_HEADER_BYTES;
    for (const [index, length] of lengths.entries()) {
      table.add(position, length, index === 0);
      const end = offset + RECORD_HEADER_BYTES + length;
      entries.push({ position, offset, end, frame });
      offset = end;
      position += 1;
    }
  }
  return { table, entries, end: offset };
}

function check(table: RecordTable, entries: readonly Entry[], end: number): void {
  expect(table.count).toBe(entries.length);
  expect(table.end).toBe(end);
  let bytes = 0;
  for (const [index, entry] of entries.entries()) {
    expect(table.indexOf(entry.position)).toBe(index);
    expect(table.positionAt(index)).toBe(entry.position);
    expect(table.offsetAt(index)).toBe(entry.offset);
    expect(table.endAt(index)).toBe(entry.end);
    const first = entries.findIndex(({ frame }) => frame === entry.frame);
    expect(table.frameStart(index)).toBe(first);
    expect(table.frameEnd(index)).toBe(entries.findLastIndex(({ frame }) => frame === entry.frame) + 1);
    bytes += entry.end - entry.offset;
  }
  expect(table.recordBytes(SEGMENT_HEADER_BYTES)).toBe(bytes);
  if (entries.length === 0) return;
  expect([table.first, table.next]).toEqual([entries[0]!.position, entries.at(-1)!.position + 1]);
  for (let position = table.first - 3; position < table.next + 3; position += 1) {
    const known = entries.some((entry) => entry.position === position);
    if (!known) expect(table.indexOf(position)).toBe(-1);
    expect(table.lowerBound(position)).toBe(entries.filter((entry) => entry.position < position).length);
  }
}

describe.each([{ sparse: false }, { sparse: true }])('a table, sparse: $sparse', ({ sparse }) => {
  test('knows where each record is, and no other, also after it was saved', () => {
    const starts = fc.constantFrom(1, 1000, 2 ** 32 - 2, 2 ** 45);
    fc.assert(
      fc.property(starts, frames, (from, list) => {
        const { table, entries, end } = build(sparse, from, list.slice(0, 40));
        check(table, entries, end);
        table.seal();
        check(table, entries, end);
        if (entries.length === 0) return;
        const { offsets, deltas } = table.columns;
        check(
          RecordTable.restore(from + (sparse ? list[0]!.gap : 0), end, offsets.slice(), deltas?.slice()),
          entries,
          end,
        );
      }),
      { numRuns: 60 },
    );
  });

  test('grows', () => {
    const list = Array.from({ length: 2000 }, (_, index) => ({ gap: index % 3, lengths: [index % 40] }));
    const { table, entries } = build(sparse, 5, list);
    for (const [index, entry] of entries.entries()) expect(table.offsetAt(index)).toBe(entry.offset);
    expect(table.indexOf(entries.at(-1)!.position)).toBe(entries.length - 1);
  });

  test('that is empty knows nothing', () => {
    const table = new RecordTable(SEGMENT_HEADER_BYTES, sparse);
    expect([table.count, table.indexOf(1), table.lowerBound(1)]).toEqual([0, -1, 0]);
    expect(() => table.first).toThrow(/empty/);
  });
});

test('a dense table takes no gap, and a sparse one no step back', () => {
  const dense = new RecordTable(SEGMENT_HEADER_BYTES, false);
  dense.beginFrame();
  dense.add(7, 1, true);
  expect(() => dense.add(9, 1, false)).toThrow(/gap/);
  const sparse = new RecordTable(SEGMENT_HEADER_BYTES, true);
  sparse.beginFrame();
  sparse.add(7, 1, true);
  expect(() => sparse.add(7, 1, false)).toThrow(/ascend/);
  expect(() => sparse.add(7 + 2 ** 32, 1, false)).toThrow(/ascend/);
});

test('which records are dead is what was added, each once, while the table grows', () => {
  const steps = fc.array(fc.tuple(fc.nat({ max: 90 }), fc.nat({ max: 30 })), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (list) => {
      const dead = new DeadRecords();
      const expected = new Map<number, number>();
      let count = 91;
      for (const [index, bytes] of list) {
        expect(dead.add(index, bytes, count)).toBe(!expected.has(index));
        if (!expected.has(index)) expected.set(index, bytes);
        count += 3;
      }
      const restored = new DeadRecords(dead.bits.slice(), dead.count, dead.bytes);
      for (const seen of [dead, restored]) {
        for (let index = 0; index < 200; index += 1) expect(seen.has(index)).toBe(expected.has(index));
        expect(seen.count).toBe(expected.size);
        expect(seen.bytes).toBe([...expected.values()].reduce((sum, bytes) => sum + bytes, 0));
      }
      expect(dead.changed).toBe(expected.size > 0);
    }),
  );
});

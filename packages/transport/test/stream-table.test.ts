import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Stream } from '../src/h2/stream.ts';
import { StreamTable } from '../src/h2/stream-table.ts';

class NamedStream extends Stream {
  readonly contentLength = -1;
  data(_bytes: Buffer, _start: number, end: number): number {
    return end;
  }
  halfClosed(): void {}
  writeEnd(): void {}
  aborted(): void {}
}

test('the table finds what is open and nothing else, whatever ids come and go', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 400 }), fc.nat(), fc.boolean()), { maxLength: 400 }),
      (steps) => {
        const table = new StreamTable();
        const model = new Map<number, Stream>();
        let id = 1;
        for (const [gap, pick, removes] of steps) {
          id += 2 * gap;
          const stream = new NamedStream(id, 0);
          table.add(stream);
          model.set(id, stream);
          if (removes) {
            const gone = [...model.keys()][pick % model.size]!;
            table.remove(gone, 'client');
            model.delete(gone);
            expect(table.find(gone)).toBeUndefined();
            expect(table.closedBy(gone)).toBe('client');
          }
        }
        expect(table.size).toBe(model.size);
        for (const [open, stream] of model) expect(table.find(open)).toBe(stream);
        expect(new Set(table)).toEqual(new Set(model.values()));
        expect(table.find(id + 2)).toBeUndefined();
      },
    ),
  );
});

test('streams may go while all are walked through', () => {
  const table = new StreamTable();
  for (let id = 1; id < 2_000; id += 2) table.add(new NamedStream(id, 0));
  let walked = 0;
  for (const stream of table) {
    walked += 1;
    table.remove(stream.id, 'server');
  }
  expect([walked, table.size]).toEqual([1_000, 0]);
});

test('all streams are met once when each is removed, even if others go meanwhile', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 400 }), fc.nat(), (gaps, pick) => {
      const table = new StreamTable();
      const left = new Map<number, Stream>();
      let id = 1;
      for (const gap of gaps) {
        id += 2 * gap;
        const stream = new NamedStream(id, 0);
        table.add(stream);
        left.set(id, stream);
      }
      for (const stream of table.removable()) {
        expect(left.delete(stream.id)).toBe(true);
        table.remove(stream.id, 'client');
        const other = [...left.keys()][pick];
        if (other === undefined) continue;
        left.delete(other);
        table.remove(other, 'server');
      }
      expect([left.size, table.size]).toEqual([0, 0]);
    }),
  );
});

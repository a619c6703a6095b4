import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Interval, IntervalTree, UNBOUNDED_END } from '../src/live/interval-tree.ts';

interface Node extends Interval<Node> {
  marked: boolean;
}

const texts = fc.string({ unit: fc.constantFrom('\0', 'a', 'b', 'ÿ'), maxLength: 3 });
const ends = fc.oneof(texts, fc.constant(UNBOUNDED_END));

test('a stab finds what a scan finds, whatever was inserted and removed', () => {
  // Few priorities, so that equal ones occur.
  const intervals = fc.uniqueArray(fc.tuple(texts, ends, fc.nat(20), fc.boolean()), {
    selector: ([start, end]) => `${start.length}:${start}${end}`,
    maxLength: 60,
  });
  fc.assert(
    fc.property(intervals, fc.array(texts, { maxLength: 20 }), (intervals, points) => {
      const tree = new IntervalTree<Node>();
      const nodes = intervals.map(([start, end, priority]): Node => {
        return {
          start,
          end,
          priority,
          marked: false,
          maxEnd: end,
          maxMarkedEnd: '',
          left: undefined,
          right: undefined,
        };
      });
      for (const node of nodes) tree.insert(node);
      const kept = nodes.filter((_, at) => intervals[at]![3]);
      for (const node of nodes) if (!kept.includes(node)) tree.remove(node);
      for (const point of points) {
        const found: Node[] = [];
        tree.stab(point, found, Number.POSITIVE_INFINITY);
        expect(new Set(found)).toEqual(new Set(kept.filter(({ start, end }) => start <= point && point < end)));
        expect(found.length).toBe(new Set(found).size);
      }
    }),
    { numRuns: 500 },
  );
});

test('what is marked is found, whatever was inserted, removed and marked', () => {
  const step = fc.record({
    what: fc.constantFrom('insert', 'remove', 'mark'),
    start: texts,
    end: ends,
    priority: fc.nat(20),
    marked: fc.boolean(),
    point: texts,
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const tree = new IntervalTree<Node>();
      const nodes = new Map<string, Node>();
      for (const { what, start, end, priority, marked, point } of steps) {
        const id = `${start.length}:${start}${end}`;
        const known = nodes.get(id);
        if (known === undefined) {
          const node: Node = {
            start,
            end,
            priority,
            marked,
            maxEnd: end,
            maxMarkedEnd: '',
            left: undefined,
            right: undefined,
          };
          nodes.set(id, node);
          tree.insert(node);
        } else if (what === 'remove') {
          nodes.delete(id);
          tree.remove(known);
        } else {
          known.marked = marked;
          tree.remark(known);
        }
        const expected = [...nodes.values()].some((node) => node.marked && node.start <= point && point < node.end);
        expect(tree.anyMarked(point)).toBe(expected);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('a stab that finds too many ends soon', () => {
  const tree = new IntervalTree<Node>();
  for (let at = 0; at < 1_000; at += 1) {
    const end = `b${at}`;
    tree.insert({
      start: 'a',
      end,
      priority: (at * 7919) % 1_000,
      marked: false,
      maxEnd: end,
      maxMarkedEnd: '',
      left: undefined,
      right: undefined,
    });
  }
  const found: Node[] = [];
  tree.stab('aa', found, 10);
  expect(found.length).toBeGreaterThan(10);
  expect(found.length).toBeLessThan(30);
});

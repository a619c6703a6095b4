import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Interval, IntervalTree, UNBOUNDED_END } from '../src/interval-tree.ts';

interface Node extends Interval<Node> {}

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
        return { start, end, priority, maxEnd: end, left: undefined, right: undefined };
      });
      for (const node of nodes) tree.insert(node);
      const kept = nodes.filter((_, at) => intervals[at]![3]);
      for (const node of nodes) if (!kept.includes(node)) tree.remove(node);
      for (const point of points) {
        const found: Node[] = [];
        tree.stab(point, found);
        expect(new Set(found)).toEqual(new Set(kept.filter(({ start, end }) => start <= point && point < end)));
        expect(found.length).toBe(new Set(found).size);
      }
    }),
    { numRuns: 500 },
  );
});

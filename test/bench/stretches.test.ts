import { expect, test } from 'vitest';
import { stretchesOf } from '../../bench/attacks/stretches.ts';

const metrics = `# TYPE engram_loop_stretches_total counter
engram_loop_stretches_total{phase="gc",method="/etcdserverpb.KV/Put"} 3
engram_loop_stretches_total{phase="frames",method=""} 1
# TYPE engram_loop_longest_stretch_seconds gauge
engram_loop_longest_stretch_seconds{phase="gc",method="/etcdserverpb.KV/Put"} 0.0125
engram_loop_longest_stretch_seconds{phase="frames",method=""} 0.02
engram_loop_slice_seconds_total{class="client"} 4
`;

test('stretches are read from the metrics of a store, the longest first', () => {
  expect(stretchesOf(metrics)).toEqual([
    { by: 'frames', count: 1, ms: 20 },
    { by: 'gc Put', count: 3, ms: 12.5 },
  ]);
  expect(stretchesOf('')).toEqual([]);
});

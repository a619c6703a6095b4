/** Stretches of one kind that kept a store's event loop for longer than its budget. */
export interface Stretches {
  /** The phase, and the method that they were for. */
  readonly by: string;
  readonly count: number;
  /** The longest of them. */
  readonly ms: number;
}

/** Reads them from a store's metrics, the longest first. */
export function stretchesOf(metrics: string): readonly Stretches[] {
  const counts = new Map(seriesOf(metrics, 'engram_loop_stretches_total'));
  return seriesOf(metrics, 'engram_loop_longest_stretch_seconds')
    .map(([by, seconds]) => ({ by, count: counts.get(by) ?? 0, ms: 1000 * seconds }))
    .toSorted((left, right) => right.ms - left.ms);
}

function seriesOf(metrics: string, name: string): readonly (readonly [string, number])[] {
  const lines = metrics.matchAll(/^(\w+)\{phase="(.*?)",method="(.*?)"\} (.*)$/gm);
  return [...lines]
    .filter(([, of]) => of === name)
    .map(([, , phase = '', method = '', value]) => {
      return [`${phase} ${method.slice(method.lastIndexOf('/') + 1)}`.trim(), Number(value)] as const;
    });
}

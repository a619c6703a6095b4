/** The tool's report of a run. A watch prints two reports: for creating the watchers, then for the events. */
export interface Summary {
  readonly rate: number;
  readonly p99Ms: number;
  readonly errors: number;
}

/** Figures that the text does not contain are NaN. */
export function summaryOf(text: string): Summary {
  const last = (pattern: RegExp): number => Number([...text.matchAll(pattern)].at(-1)?.[1] ?? Number.NaN);
  const errors = /Error distribution:\s*\n((?:\s*\[\d+\].*\n?)+)/.exec(text)?.[1] ?? '';
  return {
    rate: last(/Requests\/sec:\s*([\d.e+-]+)/g),
    p99Ms: last(/99% in ([\d.e+-]+) secs/g) * 1000,
    errors: [...errors.matchAll(/\[(\d+)\]/g)].reduce((sum, [, count]) => sum + Number(count), 0),
  };
}

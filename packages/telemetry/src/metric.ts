import type { Sample } from './plain-histogram.ts';

/** The value of a metric at a scrape: a number, or one number for each set of labels. */
export type Reading = number | readonly Sample[];

export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly name: string;
  readonly help: string;
  readonly read: () => Reading;
}

import type { Outcome } from '../support/outcome.ts';
import { figure, median, ratio } from '../support/statistics.ts';

/** One slice of time: the load generator's lines, and the state of store and machine at its end. */
export interface Slice {
  /** Keyed by the generator's names: create, update, delete, write (these three), event, keepalive, compact, slice. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly residentMb: number;
  readonly anonymousMb: number;
  readonly diskMb: number;
  /** The store's CPU in this slice. */
  readonly cpuSeconds: number;
  /** The machine's load over the last minute. */
  readonly loadAverage: number;
}

const WRITES = ['create', 'update', 'delete'] as const;

export const sliceColumns: readonly string[] = [
  'slice',
  'load avg',
  'writes/s',
  ...WRITES.flatMap((what) => [`${what} p50 ms`, 'p99']),
  'events/s',
  'event p50 ms',
  'p99',
  'behind',
  'renewal p99 ms',
  'compact ms',
  'RSS MiB',
  'anonymous',
  'disk MiB',
  'CPU cores',
  'us/write',
];

/** The cells of one slice. `number` counts from 1. */
export function sliceRow(number: number, slice: Slice): readonly string[] {
  const of = (what: string, value: (outcome: Outcome) => number): string => {
    const outcome = slice.outcomes.get(what);
    return figure(outcome === undefined ? Number.NaN : value(outcome));
  };
  const latency = (what: string, value: (outcome: Outcome) => number): string =>
    of(what, (outcome) => (outcome.requests === 0 ? Number.NaN : value(outcome)));
  const seconds = slice.outcomes.get('slice')?.seconds ?? Number.NaN;
  return [
    String(number),
    figure(slice.loadAverage),
    of('write', ({ perSecond }) => perSecond),
    ...WRITES.flatMap((what) => [latency(what, ({ p50Ms }) => p50Ms), latency(what, ({ p99Ms }) => p99Ms)]),
    of('event', ({ itemsPerSecond }) => itemsPerSecond),
    latency('event', ({ p50Ms }) => p50Ms),
    latency('event', ({ p99Ms }) => p99Ms),
    of('slice', ({ items }) => items),
    latency('keepalive', ({ p99Ms }) => p99Ms),
    latency('compact', ({ maxMs }) => maxMs),
    figure(slice.residentMb),
    figure(slice.anonymousMb),
    figure(slice.diskMb),
    figure(slice.cpuSeconds / seconds),
    figure((slice.cpuSeconds * 1e6) / (slice.outcomes.get('write')?.requests ?? Number.NaN)),
  ];
}

const WARM_SLICES = 1;
const WINDOW_SLICES = 5;

/**
 * Compares the last slices with the first: 5 each, or fewer if there are not as many, after one warm-up slice. Uses
 * medians, so that one disturbed slice does not matter. Undefined for fewer than three slices.
 */
export function verdict(slices: readonly Slice[]): string | undefined {
  const window = Math.min(WINDOW_SLICES, Math.floor((slices.length - WARM_SLICES) / 2));
  if (window < 1) return undefined;
  const first = slices.slice(WARM_SLICES, WARM_SLICES + window);
  const last = slices.slice(-window);
  const compared: readonly (readonly [name: string, value: (slice: Slice) => number])[] = [
    ['writes/s', ({ outcomes }) => outcomes.get('write')?.perSecond ?? Number.NaN],
    ['write p99', ({ outcomes }) => outcomes.get('write')?.p99Ms ?? Number.NaN],
    ['event p99', ({ outcomes }) => outcomes.get('event')?.p99Ms ?? Number.NaN],
    ['RSS', ({ residentMb }) => residentMb],
    ['disk', ({ diskMb }) => diskMb],
    ['CPU/write', ({ outcomes, cpuSeconds }) => cpuSeconds / (outcomes.get('write')?.requests ?? Number.NaN)],
    ['load average', ({ loadAverage }) => loadAverage],
  ];
  const ratios = compared.map(([name, value]) => `${name} ${ratio(median(last.map(value)), median(first.map(value)))}`);
  return `last ${window} slices to first ${window}: ${ratios.join(', ')}`;
}

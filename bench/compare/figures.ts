import type { Outcome } from '../support/outcome.ts';
import { figure, median, ratio } from '../support/statistics.ts';
import type { Workload } from './workloads.ts';

/** The figures of one run of a workload. */
export interface Run {
  readonly outcome: Outcome;
  readonly cpuSeconds: number;
  readonly residentMb: number;
}

export interface Figures {
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuUs: number;
  readonly residentMb: number;
}

/** The median of each figure over the rounds. */
export function figuresOf(runs: readonly Run[], item: Workload['item']): Figures {
  const of = (pick: (run: Run) => number): number => median(runs.map(pick));
  const counted = ({ outcome }: Run): number => (item === 'request' ? outcome.requests : outcome.items);
  return {
    rate: of((run) => (item === 'request' ? run.outcome.perSecond : run.outcome.itemsPerSecond)),
    p50Ms: of((run) => run.outcome.p50Ms),
    p99Ms: of((run) => run.outcome.p99Ms),
    cpuUs: of((run) => (run.cpuSeconds * 1e6) / Math.max(counted(run), 1)),
    residentMb: of((run) => run.residentMb),
  };
}

export const columns = [
  'workload',
  'engram/s',
  'etcd/s',
  'ratio',
  'engram p50 ms',
  'etcd p50 ms',
  'engram p99 ms',
  'etcd p99 ms',
  'engram cpu us',
  'etcd cpu us',
  'ratio',
  'engram RSS MiB',
  'etcd RSS MiB',
] as const;

export const row = (name: string, engram: Figures, etcd: Figures): readonly string[] => [
  name,
  figure(engram.rate),
  figure(etcd.rate),
  ratio(engram.rate, etcd.rate),
  figure(engram.p50Ms),
  figure(etcd.p50Ms),
  figure(engram.p99Ms),
  figure(etcd.p99Ms),
  figure(engram.cpuUs),
  figure(etcd.cpuUs),
  ratio(engram.cpuUs, etcd.cpuUs),
  figure(engram.residentMb),
  figure(etcd.residentMb),
];

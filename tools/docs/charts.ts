import type { Chart, ChartRow } from './chart.ts';
import { columnRows, figureOf, isDrawable, type Source, storeRows, tableOf } from './results.ts';

const stores = ['Engram', 'etcd'];

const compare: Source = { command: 'make bench-compare', section: 'side-by-side' };
const cluster: Source = { command: 'make bench-cluster', section: 'all-rows' };
const million: Source = { command: 'make bench-million', section: 'a-million-keys-of-512-bytes' };
const tenMillion: Source = { command: 'make bench-million', section: 'ten-million-keys-of-100-bytes' };
const faults: Source = { command: 'make e2e-chaos', section: 'half-an-hour-of-all-faults' };
const lostLeader: Source = { command: 'make e2e-chaos', section: 'when-the-leader-is-lost' };
const steadyRate: Source = { section: 'latency-far-below-full-load-on-these-stores' };

const writes = (name: string): string | undefined => (/^(create|put|update|delete) /.test(name) ? name : undefined);
const reads = (name: string): string | undefined => (writes(name) === undefined ? name : undefined);
const creates = (name: string): string | undefined => /^create at the leader, (\d+ clients?)$/.exec(name)?.[1];

/** A row of the table of one size, which has a row for each measure and a column for each store. */
function sizes(measure: string): readonly ChartRow[] {
  const at = [
    { source: million, label: 'a million keys of 512 bytes' },
    { source: tenMillion, label: 'ten million keys of 100 bytes' },
  ];
  return at.flatMap(({ source, label }) => {
    const cells = tableOf(source)?.rows.find(([name]) => name === measure);
    return cells === undefined ? [] : [{ label, figures: [cells[1], cells[2]].map((cell) => figureOf(cell ?? '')) }];
  });
}

/** Of cells with two figures, `p50, p99`. */
function steadyP99(): readonly ChartRow[] {
  return (tableOf(steadyRate)?.rows ?? []).map(([rate, engram, onTikv, etcd]) => ({
    label: `${rate} puts a second`,
    figures: [engram, etcd, onTikv].map((cell) => figureOf(cell?.split(', ')[1] ?? '')),
  }));
}

const onTwoCores = 'one member, 2 cores shared with the load';
const onThree = 'three members, PD, stores and the load on 2 cores';

/** Every picture of docs/charts. The figures are those of the newest results, none is written here. */
export function charts(): readonly Chart[] {
  const all: readonly Chart[] = [
    {
      id: 'one-rate',
      title: 'Throughput',
      unit: `a second; ${onTwoCores}`,
      scale: 'row',
      series: stores,
      rows: storeRows(compare, '/s'),
    },
    {
      id: 'one-p50',
      title: 'Median latency',
      unit: `ms; ${onTwoCores}`,
      scale: 'row',
      series: stores,
      rows: storeRows(compare, 'p50 ms'),
    },
    {
      id: 'one-p99',
      title: '99th percentile of latency',
      unit: `ms; ${onTwoCores}`,
      scale: 'row',
      series: stores,
      rows: storeRows(compare, 'p99 ms'),
    },
    {
      id: 'one-cpu',
      title: 'CPU for each request',
      unit: `microseconds; ${onTwoCores}`,
      scale: 'row',
      series: stores,
      rows: storeRows(compare, 'CPU us'),
    },
    {
      id: 'one-memory',
      title: 'Resident memory, growing from row to row',
      unit: `MB; ${onTwoCores}`,
      scale: 'all',
      series: stores,
      rows: storeRows(compare, 'RSS M'),
    },
    {
      id: 'cluster-clients',
      title: 'Creates, by clients in flight',
      unit: `a second; ${onThree}`,
      scale: 'all',
      series: stores,
      rows: storeRows(cluster, '/s', creates),
    },
    {
      id: 'cluster-clients-p99',
      title: 'Creates, by clients in flight: 99th percentile',
      unit: `ms; ${onThree}`,
      scale: 'all',
      series: stores,
      rows: storeRows(cluster, 'p99 ms', creates),
    },
    {
      id: 'cluster-writes',
      title: 'Writes',
      unit: `a second; ${onThree}`,
      scale: 'row',
      series: stores,
      rows: storeRows(cluster, '/s', writes),
    },
    {
      id: 'cluster-writes-p99',
      title: 'Writes: 99th percentile of latency',
      unit: `ms; ${onThree}`,
      scale: 'row',
      series: stores,
      rows: storeRows(cluster, 'p99 ms', writes),
    },
    {
      id: 'cluster-writes-cpu',
      title: 'Writes: CPU for each',
      unit: `microseconds of leader + followers, with Engram + stores + PD; ${onThree}`,
      scale: 'row',
      series: stores,
      rows: storeRows(cluster, 'cpu us', writes),
    },
    {
      id: 'cluster-reads',
      title: 'Reads and events',
      unit: `requests, keys or events a second; ${onThree}`,
      scale: 'row',
      series: stores,
      rows: storeRows(cluster, '/s', reads),
    },
    {
      id: 'cluster-reads-p99',
      title: 'Reads and events: 99th percentile of latency',
      unit: `ms; ${onThree}`,
      scale: 'row',
      series: stores,
      rows: storeRows(cluster, 'p99 ms', reads),
    },
    {
      id: 'cluster-steady',
      title: 'Puts at a steady rate: 99th percentile of latency',
      unit: `ms; ${onThree}`,
      scale: 'row',
      series: ['Engram on the lab’s stores', 'etcd', 'Engram on TiKV'],
      rows: steadyP99(),
    },
    {
      id: 'keys-memory',
      title: 'Resident memory, by keys',
      unit: 'MiB after the load',
      scale: 'row',
      series: stores,
      rows: sizes('RSS after the load, MiB'),
    },
    {
      id: 'keys-disk',
      title: 'Size on disk, by keys',
      unit: 'MiB after the load',
      scale: 'row',
      series: stores,
      rows: sizes('on disk, MiB'),
    },
    {
      id: 'keys-start',
      title: 'Start after kill -9, by keys',
      unit: 'ms to the first read',
      scale: 'row',
      series: stores,
      rows: sizes('start after kill -9 to the first read, ms'),
    },
    {
      id: 'faults',
      title: 'Time without an acknowledged write, by fault',
      unit: 'ms; on a busy machine',
      scale: 'all',
      series: ['median', 'longest'],
      rows: columnRows(faults, ['p50', 'max']),
    },
    {
      id: 'lost-leader',
      title: 'Time without an acknowledged write when the leader is lost',
      unit: 'ms, fifty rounds each; on a busy machine',
      scale: 'all',
      series: ['median', 'longest'],
      rows: columnRows(lostLeader, ['p50 ms', 'p99 and max ms']),
    },
  ];
  return all.filter(isDrawable);
}

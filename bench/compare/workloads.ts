/** One row of the table: the load generator's arguments. */
export interface Workload {
  /** Without a comma: --only is a list of names. */
  readonly name: string;
  readonly args: readonly string[];
  /** The unit of rate and CPU. */
  readonly item: 'request' | 'key' | 'event';
}

export interface Scale {
  /** Multiplies the number of requests of every workload. */
  readonly factor: number;
  /** Keys that put and get choose from. */
  readonly keys: number;
  /** Keys of the listed prefix. */
  readonly listed: number;
}

export const LIST_PREFIX = '/registry/list/';

/** At full scale a run takes a few seconds. */
export function workloads({ factor, keys, listed }: Scale): readonly Workload[] {
  const times = (count: number): string => `${Math.max(1, Math.round(count * factor))}`;
  const requests = (op: string, count: number, ...more: string[]): readonly string[] => [
    `--op=${op}`,
    `--keys=${keys}`,
    `--requests=${times(count)}`,
    `--warm=${times(count / 10)}`,
    ...more,
  ];
  const reads = (op: string, count: number, ...more: string[]): readonly string[] => [
    `--op=${op}`,
    `--keys=${listed}`,
    `--prefix=${LIST_PREFIX}`,
    `--requests=${times(count)}`,
    `--warm=${times(count / 20)}`,
    '--connections=2',
    '--inflight=2',
    ...more,
  ];
  const watch = (watchers: number, connections: number, events: number, ...more: string[]): readonly string[] => [
    '--op=watch',
    `--watchers=${watchers}`,
    `--connections=${connections}`,
    `--requests=${times(events)}`,
    `--prefix=/registry/watch-${watchers}${more.length > 0 ? '-prev' : ''}/`,
    ...more,
  ];
  return [
    { name: 'put', item: 'request', args: requests('put', 60_000) },
    { name: 'put one client', item: 'request', args: requests('put', 3_000, '--connections=1', '--inflight=1') },
    {
      name: 'put of 64 KiB',
      item: 'request',
      args: requests('put', 2_000, '--value=65536', '--prefix=/registry/big/'),
    },
    { name: 'get', item: 'request', args: requests('get', 80_000) },
    { name: 'create', item: 'request', args: requests('create', 60_000) },
    { name: 'update', item: 'request', args: requests('update', 60_000) },
    { name: 'delete', item: 'request', args: requests('delete', 40_000) },
    { name: 'mixed', item: 'request', args: requests('mixed', 60_000) },
    {
      name: 'create 300 clients',
      item: 'request',
      args: requests('create', 60_000, '--connections=300', '--inflight=1'),
    },
    { name: 'page of 500', item: 'key', args: reads('list', 400, '--limit=500') },
    { name: 'list', item: 'key', args: reads('list', 100) },
    { name: 'count', item: 'request', args: reads('count', 2_000) },
    { name: 'watch 8 watchers', item: 'event', args: watch(8, 8, 20_000) },
    { name: 'watch 100 watchers', item: 'event', args: watch(100, 10, 4_000) },
    { name: 'watch 100 prev_kv', item: 'event', args: watch(100, 10, 4_000, '--prev-kv') },
    { name: 'watch 1000 watchers', item: 'event', args: watch(1000, 20, 500) },
    { name: 'keepalive', item: 'request', args: requests('keepalive', 100_000) },
  ];
}

import { LIST_PREFIX } from '../compare/workloads.ts';

/** One row: the load generator's arguments, and the role of the member that gets the requests. */
export interface ClusterWorkload {
  readonly name: string;
  readonly at: 'leader' | 'follower';
  readonly args: readonly string[];
  /** The unit of rate and CPU. */
  readonly item: 'request' | 'key' | 'event';
}

export interface ClusterScale {
  readonly factor: number;
  readonly keys: number;
  readonly listed: number;
}

const CLIENTS: readonly (readonly [name: string, flags: readonly string[], share: number])[] = [
  ['1 client', ['--connections=1', '--inflight=1'], 0.02],
  ['64 clients', ['--connections=64', '--inflight=1'], 0.5],
  ['300 clients', ['--connections=300', '--inflight=1'], 1],
  ['1000 clients', ['--connections=1000', '--inflight=1'], 1],
  ['8 x 32', ['--connections=8', '--inflight=32'], 1],
];

const WATCHES: readonly (readonly [watchers: number, writesInflight: number, requests: number])[] = [
  [100, 16, 4_000],
  [100, 256, 4_000],
  [1_000, 64, 1_000],
];

/** At full scale a run takes a few seconds. */
export function clusterWorkloads({ factor, keys, listed }: ClusterScale): readonly ClusterWorkload[] {
  const times = (count: number): number => Math.max(20, Math.round(count * factor));
  const rows: ClusterWorkload[] = [];
  const writes = (op: string, at: 'leader' | 'follower', clients: typeof CLIENTS): void => {
    for (const [name, flags, share] of clients) {
      const requests = times(60_000 * share);
      const args = [
        `--op=${op}`,
        `--keys=${keys}`,
        `--requests=${requests}`,
        `--warm=${Math.ceil(requests / 10)}`,
        ...flags,
      ];
      rows.push({ name: `${op} at the ${at}, ${name}`, at, args, item: 'request' });
    }
  };
  writes('create', 'leader', CLIENTS);
  writes('create', 'follower', CLIENTS.slice(-1));
  for (const op of ['put', 'update', 'delete']) writes(op, 'leader', CLIENTS.slice(-1));
  for (const at of ['leader', 'follower'] as const) {
    writes('get', at, CLIENTS.slice(-1));
    const reads = (op: string, requests: number, each: number, ...more: string[]): readonly string[] => [
      `--op=${op}`,
      `--keys=${listed}`,
      `--prefix=${LIST_PREFIX}`,
      `--requests=${times(requests)}`,
      '--warm=5',
      `--connections=${each}`,
      `--inflight=${each}`,
      ...more,
    ];
    // Reads that wait share a round of heartbeats: four at a time pay most for it, 64 little.
    for (const each of [2, 8]) {
      const name = (row: string): string => `${row} at the ${at}, ${each} x ${each}`;
      rows.push({ name: name('page of 500'), at, args: reads('list', 400, each, '--limit=500'), item: 'key' });
      rows.push({ name: name('count'), at, args: reads('count', 2000, each), item: 'request' });
    }
    rows.push({ name: `list at the ${at}`, at, args: reads('list', 60, 2), item: 'key' });
    // Few writes at a time show what the stores take for a small batch, many watchers what the fan-out takes.
    for (const [watchers, writes, requests] of WATCHES) {
      rows.push({
        name: `watch at the ${at}, ${watchers} watchers, ${writes} writes in flight`,
        at,
        args: [
          '--op=watch',
          `--watchers=${watchers}`,
          '--connections=10',
          `--writes-inflight=${writes}`,
          `--requests=${times(requests)}`,
          `--prefix=/registry/watch-${at}/`,
        ],
        item: 'event',
      });
    }
  }
  return rows;
}

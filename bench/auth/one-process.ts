/**
 * What users and roles cost a get and a put, on whole nodes of one process, loaded in short blocks in turn: so what differs between two
 * processes (compiled code, heap, the time at which they run) is the same for all.
 *
 *   node bench/auth/one-process.ts [--roles 1000] [--ranges 100] [--starts 4] [--rounds 60] [--gets 20000] [--puts 4000]
 *       [--keys 20000] [--connections 8] [--inflight 32] [--most 0.1] [--markdown FILE] [--smoke]
 *
 * A process has two nodes without users, and one whose user logs in by JWT; in a second process that one has many roles too. Which node is
 * made first, and which is loaded first, changes. All are compared with the first node without users in the same round, so the second of
 * these says what is noise. Fails where users take more than `most`, by the median of the rounds or by all CPU.
 */
import { HostedNodes } from '../support/hosted-nodes.ts';
import { LoadBlocks } from '../support/load-blocks.ts';
import { readOptions } from '../support/options.ts';
import { DataFolder, report } from '../support/report.ts';
import {
  COST_COLUMNS,
  compareBlocks,
  costRow,
  fillKeys,
  loadInTurn,
  type NamedLoad,
  percent,
} from '../support/paired-blocks.ts';
import type { Table } from '../support/table.ts';
import { addUsers, jwtFlag, logIn } from './users.ts';

const options = readOptions(
  process.argv.slice(2),
  {
    roles: 1_000,
    ranges: 100,
    starts: 4,
    rounds: 60,
    gets: 20_000,
    puts: 4_000,
    keys: 20_000,
    connections: 8,
    inflight: 32,
    most: 0.1,
    markdown: '',
  },
  { roles: 3, ranges: 3, starts: 1, rounds: 4, gets: 500, puts: 500, keys: 200, most: 1_000 },
);
const operations = [
  { op: 'get', requests: options.gets },
  { op: 'put', requests: options.puts },
] as const;
/** Blocks that each client loads before the first that counts. */
const WARM_BLOCKS = 5;
const NODES = 3;

/** A client of a node of the process. */
interface Client {
  readonly name: string;
  readonly node: number;
  /** None: the node has no users. */
  readonly user?: string;
}
const WITHOUT: readonly Client[] = [
  { name: 'without users', node: 0 },
  { name: 'without users, again', node: 1 },
];
const many = `${options.roles} roles of ${options.ranges} ranges`;
const processes: readonly { readonly roles: number; readonly clients: readonly Client[] }[] = [
  { roles: 0, clients: [...WITHOUT, { name: 'a user, by JWT', node: 2, user: 'one' }] },
  {
    roles: options.roles,
    clients: [
      ...WITHOUT,
      { name: `a user, by JWT, beside ${many}`, node: 2, user: 'one' },
      { name: `a user who has ${many}, by JWT`, node: 2, user: 'all' },
    ],
  },
];

using folder = new DataFolder();
const jwt = jwtFlag(folder.path);
const failures: string[] = [];

/** CPU of a request in us: by process, operation and client, for each start and round. */
const cpuUs = processes.map(({ clients }) => operations.map(() => clients.map((): (readonly number[])[] => [])));

for (let start = 0; start < options.starts; start += 1) {
  for (const [at, { roles, clients }] of processes.entries()) {
    await using nodes = await HostedNodes.start(
      folder.path,
      Array.from({ length: NODES }, () => [jwt]),
    );
    const targetOf = ({ node }: Client): string => nodes.targets[(node + start) % NODES]!;
    for (const target of new Set(clients.map(targetOf))) await fillKeys(target, options.keys);
    await addUsers(targetOf(clients.at(-1)!), roles, options.ranges);
    for (const [of, { op, requests }] of operations.entries()) {
      await using loads = new AsyncDisposableStack();
      const measured: NamedLoad[] = [];
      for (const client of clients) {
        const token = client.user === undefined ? [] : [`--token=${await logIn(targetOf(client), client.user)}`];
        const load = loads.use(loadOf(targetOf(client), op, requests, token));
        await load.prepare();
        measured.push({ name: client.name, load });
      }
      const found = await loadInTurn(nodes, measured, { what: op, rounds: options.rounds, first: start });
      for (const [index, us] of found.entries()) cpuUs[at]![of]![index]!.push(us);
      const more = found.map((us) => compareBlocks([found[0]!], [us]).more);
      const said = clients.map(({ name }, index) => `${name} ${percent(more[index]!)}`);
      console.error(`start ${start + 1} of ${options.starts}, ${op}: ${said.slice(1).join(', ')}`);
    }
  }
}

report({
  title: 'What users and roles cost, in one process',
  command: `node bench/auth/one-process.ts ${process.argv.slice(2).join(' ')}`.trim(),
  tables: processes.map(tableOf),
  notes: [
    `${options.starts} starts with ${options.rounds} rounds each; a block has ${options.gets} gets or ${options.puts} puts`,
    `${options.connections} connections with ${options.inflight} requests each`,
    'CPU is of the whole process, with what the nodes put off, and medians of all blocks',
    'more: than the first node without users in the same round; the median with its interval of 95 %, by all CPU, and the median of each start',
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});

function tableOf({ roles, clients }: (typeof processes)[number], at: number): Table {
  const rows: (readonly string[])[] = [];
  for (const [of, { op }] of operations.entries()) {
    const plain = cpuUs[at]![of]![0]!;
    for (const [index, { name, user }] of clients.entries()) {
      const own = cpuUs[at]![of]![index]!;
      const cost = index === 0 ? undefined : compareBlocks(plain, own);
      rows.push([op, name, ...costRow(own, cost)]);
      for (const found of user === undefined || cost === undefined ? [] : [cost.more, cost.ofAll]) {
        if (found > options.most)
          failures.push(`${op}, ${name}: ${percent(found)} more, and may be ${percent(options.most)}`);
      }
    }
  }
  return {
    title: roles === 0 ? 'A process without roles' : `A process with ${many}`,
    columns: ['request', 'client', ...COST_COLUMNS],
    rows,
  };
}

function loadOf(target: string, op: string, requests: number, more: readonly string[]): LoadBlocks {
  return new LoadBlocks(target, options.rounds, [
    `--op=${op}`,
    `--requests=${requests}`,
    `--warm=${WARM_BLOCKS * requests}`,
    `--keys=${options.keys}`,
    `--connections=${options.connections}`,
    `--inflight=${options.inflight}`,
    ...more,
  ]);
}

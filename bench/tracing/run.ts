/**
 * What traces cost a get and a put, on whole nodes of one process, loaded in short blocks in turn: so what differs between two processes
 * (compiled code, heap, the time at which they run) is the same for all.
 *
 *   node bench/tracing/run.ts [--starts 4] [--rounds 60] [--gets 20000] [--puts 4000] [--keys 20000] [--connections 8] [--inflight 32]
 *       [--idle 0.01] [--most 0.03] [--only TEXT] [--markdown FILE] [--smoke]
 *
 * A process has two nodes that do not trace, and one that does: no call, or 5 % of the calls. Its spans go to a collector in another
 * process. All are compared with the first node that does not trace in the same round, so the second of these says what is noise: 5 to
 * 10 % of a start. A node that does not trace does less than one that traces no call.
 *
 * Traced calls stand out of that noise, so their cost is known, and with it that of the most calls that a node traces in a second
 * (--distributed-tracing-calls-per-second). Fails where these take more than `most` of a core; where a node that traces no call
 * takes more than `idle` beyond all noise, which is by the least of its interval; and where a node has not sent the spans that it should.
 * `only`: the kinds of nodes that trace which have this in their names.
 */
import { HostedNodes } from '../support/hosted-nodes.ts';
import { LoadBlocks } from '../support/load-blocks.ts';
import { readOptions } from '../support/options.ts';
import {
  COST_COLUMNS,
  compareBlocks,
  costRow,
  fillKeys,
  loadInTurn,
  type NamedLoad,
  percent,
  sum,
} from '../support/paired-blocks.ts';
import { DataFolder, report } from '../support/report.ts';
import { figure } from '../support/statistics.ts';
import { CollectorProcess } from './collector-process.ts';

const options = readOptions(
  process.argv.slice(2),
  {
    starts: 4,
    rounds: 60,
    gets: 20_000,
    puts: 4_000,
    keys: 20_000,
    connections: 8,
    inflight: 32,
    idle: 0.01,
    most: 0.03,
    only: '',
    markdown: '',
  },
  { starts: 1, rounds: 2, gets: 2_000, puts: 2_000, keys: 200, idle: 1_000, most: 1_000 },
);
const operations = [
  { op: 'get', requests: options.gets, span: 'etcdserverpb.KV/Range' },
  { op: 'put', requests: options.puts, span: 'etcdserverpb.KV/Put' },
] as const;
/** Spans are sent in the pause behind the block that made them: the delay of a batch, and a pause that is longer. */
const EXPORT = { OTEL_BSP_SCHEDULE_DELAY: '500' };
const PAUSE_MS = 600;
const COLUMNS = ['request', 'node', ...COST_COLUMNS, 'traced', 'us each', 'of a core'];
const OFF = ['not traced', 'not traced, again'] as const;

interface Traced {
  readonly name: string;
  /** Of a million calls. */
  readonly rate: number;
  readonly flags: readonly string[];
}
/** The default of --distributed-tracing-calls-per-second. */
const CALLS_PER_SECOND = 200;
/** 5 %: as many of a block as the library keeps until it sends them, and so many that their cost stands out of the noise. */
const RATE = 50_000;
const kinds: readonly Traced[] = [
  { name: 'traced, but no call', rate: 0, flags: [] },
  {
    name: '5 %, without a bound',
    rate: RATE,
    flags: [`--distributed-tracing-sampling-rate=${RATE}`, '--distributed-tracing-calls-per-second=0'],
  },
];
const traced = kinds.filter(({ name }) => name.includes(options.only));
if (traced.length === 0) throw new Error(`--only: no kind of node has it in its name: ${options.only}`);

using folder = new DataFolder();
const failures: string[] = [];
/** CPU of a request in us: by kind of node that traces, operation and client, for each start and round. */
const cpuUs = traced.map(() => operations.map(() => [...OFF, ''].map((): (readonly number[])[] => [])));
/** Of the same kinds and operations: calls that were traced in all blocks that count. */
const tracedCalls = traced.map(() => operations.map(() => 0));

for (let start = 0; start < options.starts; start += 1) {
  for (const [at, { name, rate, flags }] of traced.entries()) {
    await using collector = await CollectorProcess.start();
    const tracing = ['--enable-distributed-tracing', `--distributed-tracing-address=${collector.address}`, ...flags];
    // Which of them is made first changes.
    const clients = [...OFF, name].map((client, index) => ({ client, node: (index + start) % (OFF.length + 1) }));
    const flagsOfNodes = clients.map((_, node) => (clients.at(-1)!.node === node ? tracing : []));
    await using nodes = await HostedNodes.start(folder.path, flagsOfNodes, EXPORT);
    for (const target of nodes.targets) await fillKeys(target, options.keys);
    for (const [of, { op, requests, span }] of operations.entries()) {
      await using loads = new AsyncDisposableStack();
      const measured: NamedLoad[] = [];
      for (const { client, node } of clients) {
        const load = loads.use(loadOf(nodes.targets[node]!, op, requests));
        await load.prepare();
        measured.push({ name: client, load });
      }
      await nodes.idleCpuUs(PAUSE_MS);
      const before = await collector.count(span);
      const found = await loadInTurn(nodes, measured, {
        what: op,
        rounds: options.rounds,
        first: start,
        ...(rate > 0 && { deferMs: PAUSE_MS }),
      });
      for (const [index, us] of found.entries()) cpuUs[at]![of]![index]!.push(us);
      const spans = (await collector.count(span)) - before;
      tracedCalls[at]![of]! += spans;
      if (rate === 0 ? spans > 0 : spans === 0) failures.push(`${op}, ${name}: the collector has ${spans} calls`);
      const said = found
        .slice(1)
        .map((us, index) => `${measured[index + 1]!.name} ${percent(compareBlocks([found[0]!], [us]).more)}`);
      console.error(
        `start ${start + 1} of ${options.starts}, ${op}: ${said.join(', ')}; ${spans} calls at the collector`,
      );
    }
  }
}

const rows: (readonly string[])[] = [];
for (const [of, { op, requests }] of operations.entries()) {
  for (const [at, { name, rate }] of traced.entries()) {
    const [plain, again, own] = cpuUs[at]![of]!;
    const cost = compareBlocks(plain!, own!);
    const calls = tracedCalls[at]![of]!;
    const usOfCall = calls > 0 ? (requests * (sum(own!.flat()) - sum(plain!.flat()))) / calls : 0;
    const ofCore = (usOfCall * CALLS_PER_SECOND) / 1_000_000;
    const traces =
      rate > 0 ? [percent(calls / (requests * own!.flat().length)), figure(usOfCall), percent(ofCore)] : [];
    rows.push(
      [op, OFF[0], ...costRow(plain!, undefined)],
      [op, OFF[1], ...costRow(again!, compareBlocks(plain!, again!))],
      [op, name, ...costRow(own!, cost), ...traces],
    );
    if (ofCore > options.most)
      failures.push(`${op}: ${CALLS_PER_SECOND} traced calls take ${percent(ofCore)} of a core`);
    if (rate === 0 && cost.interval.least > options.idle) failures.push(`${op}, ${name}: ${percent(cost.more)} more`);
  }
}

report({
  title: 'What traces cost, in one process',
  command: `node bench/tracing/run.ts ${process.argv.slice(2).join(' ')}`.trim(),
  tables: [{ title: 'CPU of a request', columns: COLUMNS, rows }],
  notes: [
    `${options.starts} starts with ${options.rounds} rounds each; a block has ${options.gets} gets or ${options.puts} puts`,
    `${options.connections} connections with ${options.inflight} requests each; three rows are one process`,
    'CPU is of the whole process, with what the nodes put off and the sending of spans, and medians of all blocks',
    `traced: of the calls; us each: what a traced call takes more, by all CPU; of a core: ${CALLS_PER_SECOND} of them in a second`,
    'more: than the first node of the same process in the same round; the median with its interval of 95 %, by all CPU, and the median of each start',
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});

function loadOf(target: string, op: string, requests: number): LoadBlocks {
  return new LoadBlocks(target, options.rounds, [
    `--op=${op}`,
    `--requests=${requests}`,
    `--warm=${requests}`,
    `--keys=${options.keys}`,
    `--connections=${options.connections}`,
    `--inflight=${options.inflight}`,
  ]);
}

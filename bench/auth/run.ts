/**
 * What users and roles cost a get and a put, on stores of one machine in turn: without users; with a user who logs in by JWT, or by
 * simple tokens; and by JWT beside many roles with many ranges, of which the user has one, or all.
 *
 *   node bench/auth/run.ts [--roles 1000] [--ranges 100] [--starts 4] [--rounds 2] [--requests 60000] [--most 0.1] [--markdown FILE] [--smoke]
 *
 * Each kind is compared with the store without users of the same start and round. A second store without users says how much of a difference
 * is noise. Fails where the median of a kind is above `most`.
 */
import { runOne } from '../support/load.ts';
import { readOptions } from '../support/options.ts';
import { percent } from '../support/paired-blocks.ts';
import { DataFolder, report } from '../support/report.ts';
import { figure, median } from '../support/statistics.ts';
import { Store } from '../support/store.ts';
import { addUsers, jwtFlag, logIn } from './users.ts';

const options = readOptions(
  process.argv.slice(2),
  { roles: 1_000, ranges: 100, starts: 4, rounds: 2, requests: 60_000, keys: 20_000, most: 0.1, markdown: '' },
  { roles: 3, ranges: 3, starts: 1, rounds: 1, requests: 500, keys: 200, most: 1_000 },
);
using folder = new DataFolder();
const jwtTokens = jwtFlag(folder.path);

/** A kind of clients of a store. Several kinds may share one. */
interface Measured {
  readonly name: string;
  readonly store: Store;
  /** None: the store has no users. */
  readonly user: string | undefined;
}

await using stores = new AsyncDisposableStack();
const start = async (flags: readonly string[] = []): Promise<Store> =>
  stores.use(await Store.start('engram', folder.path, flags));

const plain: Measured = { name: 'without users', store: await start(), user: undefined };
const [jwt, simple, many] = [await start([jwtTokens]), await start(), await start([jwtTokens])];
const roles = `${options.roles} roles of ${options.ranges} ranges`;
const measured: readonly Measured[] = [
  plain,
  { name: 'without users, again', store: await start(), user: undefined },
  { name: 'a user, by JWT', store: jwt, user: 'one' },
  { name: 'a user, by a simple token', store: simple, user: 'one' },
  { name: `a user, by JWT, beside ${roles}`, store: many, user: 'one' },
  { name: `a user who has ${roles}, by JWT`, store: many, user: 'all' },
];
const all = new Set(measured.map(({ store }) => store));
const failures: string[] = [];
for (const store of all) {
  const { outcome } = await runOne(store, ['--op=fill', `--keys=${options.keys}`]);
  if (outcome.failures > 0) failures.push(`fill: ${outcome.firstError}`);
}
for (const [store, count] of [
  [jwt, 0],
  [simple, 0],
  [many, options.roles],
] as const) {
  await addUsers(store.target, count, options.ranges);
}

/** CPU of a request in us, by operation and kind, one for each start and round. */
const cpuUs = new Map<string, number[]>();
const cpuOf = (op: string, { name }: Measured): number[] => {
  const key = `${op} ${name}`;
  if (!cpuUs.has(key)) cpuUs.set(key, []);
  return cpuUs.get(key)!;
};

async function measure(op: string, one: Measured, token: string | undefined): Promise<void> {
  const load = [`--op=${op}`, `--requests=${options.requests}`, `--warm=${options.requests}`, `--keys=${options.keys}`];
  const { outcome, cpuSeconds } = await runOne(one.store, token === undefined ? load : [...load, `--token=${token}`]);
  if (outcome.failures > 0) failures.push(`${op}, ${one.name}: ${outcome.failures}x ${outcome.firstError}`);
  cpuOf(op, one).push((cpuSeconds * 1e6) / Math.max(outcome.requests, 1));
}

for (let at = 0; at < options.starts; at += 1) {
  for (const store of all) {
    await store.stop();
    await store.start();
  }
  const tokens = new Map<Measured, string>();
  for (const one of measured) if (one.user !== undefined) tokens.set(one, await logIn(one.store.target, one.user));
  for (const op of ['get', 'put']) {
    for (let round = 0; round < options.rounds; round += 1) {
      // Who is first is measured on another machine than who is last.
      for (const one of (at + round) % 2 === 0 ? measured : measured.toReversed())
        await measure(op, one, tokens.get(one));
    }
  }
  console.error(`start ${at + 1} of ${options.starts}`);
}

const rows: (readonly string[])[] = [];
for (const op of ['get', 'put']) {
  const first = cpuOf(op, plain);
  for (const one of measured) {
    const own = cpuOf(op, one);
    if (one === plain) {
      rows.push([op, one.name, figure(median(own)), '', '']);
      continue;
    }
    // Of each start and round by itself, because the machine is not the same in all of them.
    const more = own.map((us, at) => us / first[at]! - 1).toSorted((left, right) => left - right);
    if (one.user !== undefined && median(more) > options.most) {
      failures.push(`${op}, ${one.name}: ${percent(median(more))} more, and may be ${percent(options.most)}`);
    }
    rows.push([op, one.name, figure(median(own)), percent(median(more)), more.map(percent).join(', ')]);
  }
}

report({
  title: 'What users and roles cost',
  command: `node bench/auth/run.ts ${process.argv.slice(2).join(' ')}`.trim(),
  tables: [{ title: 'CPU of a request', columns: ['request', 'client', 'cpu us', 'more', 'each time'], rows }],
  notes: [
    `medians of ${options.starts} starts with ${options.rounds} rounds each, in turn; CPU is of the store alone, with what it puts off`,
    'more: than the first store without users in the same start and round',
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});

// Our client on a real PD and real stores: what it must do, what client-go sees of it, and what it bears.
//   node suite.ts [basics|cross|faults|all] [--only NAME] [--seconds N]
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isTikvError, TikvClient } from '@engram/tikv-client';
import { accountKey, type BankResult, openBank, runBank, totalOf } from './bank.ts';
import { Checks, expectEqual } from './check.ts';
import { clientGo, Lab } from './lab.ts';

const { values, positionals } = parseArgs({
  options: {
    only: { type: 'string' },
    seconds: { type: 'string', default: '120' },
    keep: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const part = positionals[0] ?? 'all';
const seconds = Number(values.seconds);
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : Buffer.from(value).toString();
const checks = new Checks(values.only);
const dir = mkdtempSync(join(process.env['TMPDIR'] ?? '/tmp', 'tikv-e2e-'));

async function rows(client: TikvClient, start: string, end: string, reverse = false): Promise<string[]> {
  const snapshot = await client.snapshot();
  const found: string[] = [];
  for await (const { key, value } of snapshot.scan(bytes(start), bytes(end), { reverse, pageRows: 7 }))
    found.push(`${text(key)}=${text(value)}`);
  return found;
}

async function write(
  client: TikvClient,
  entries: Record<string, string>,
  mode: '1pc' | 'async' | '2pc',
): Promise<bigint> {
  const txn = await client.begin();
  for (const [key, value] of Object.entries(entries)) txn.put(bytes(key), bytes(value));
  const outcome = await txn.commit({ mode });
  if (outcome.kind !== 'committed') throw new Error(outcome.kind);
  return outcome.commitTs;
}

async function basics(lab: Lab): Promise<void> {
  await using client = await TikvClient.connect({ pdAddresses: lab.pdAddresses });
  await checks.check('basics: every way to commit, over regions that were split and scattered', async () => {
    await client.admin.split(['pa/05', 'pa/10', 'pa/15'].map(bytes));
    const regions = await client.admin.regions(bytes('pa/'), bytes('pa0'));
    expectEqual(regions.length >= 4, true, 'regions');
    await client.admin.scatter(regions.map(({ id }) => id));
    const expected: string[] = [];
    for (const [at, mode] of (['1pc', 'async', '2pc'] as const).entries()) {
      const entries = Object.fromEntries(
        Array.from({ length: 20 }, (_, row) => [`pa/${String(row).padStart(2, '0')}`, `${mode}-${at}`]),
      );
      await write(client, entries, mode);
      expected.splice(0, 20, ...Object.entries(entries).map(([key, value]) => `${key}=${value}`));
      expectEqual(await rows(client, 'pa/', 'pa0'), expected, mode);
      expectEqual(await rows(client, 'pa/', 'pa0', true), expected.toReversed(), `${mode} backwards`);
    }
  });
  await checks.check('basics: conflict, insert, check, delete', async () => {
    const one = await client.begin();
    const two = await client.begin();
    one.put(bytes('pc/a'), bytes('1'));
    two.put(bytes('pc/a'), bytes('2'));
    expectEqual((await one.commit()).kind, 'committed', 'first');
    expectEqual((await two.commit()).kind, 'conflict', 'second');
    const insert = await client.begin();
    insert.insert(bytes('pc/a'), bytes('3'));
    expectEqual((await insert.commit()).kind, 'exists', 'insert');
    const fenced = await client.begin();
    fenced.checkNotExists(bytes('pc/a'));
    fenced.put(bytes('pc/b'), bytes('x'));
    expectEqual((await fenced.commit({ requireOnePhase: true })).kind, 'exists', 'check');
    expectEqual(await client.get(bytes('pc/b')), undefined, 'nothing was written');
    const remove = await client.begin();
    remove.delete(bytes('pc/a'));
    expectEqual((await remove.commit()).kind, 'committed', 'delete');
    expectEqual(await client.get(bytes('pc/a')), undefined, 'deleted');
  });
  await checks.check('basics: a snapshot stays as it was', async () => {
    await write(client, { 'ps/a': 'old' }, '1pc');
    const snapshot = await client.snapshot();
    await write(client, { 'ps/a': 'new' }, '1pc');
    expectEqual(text(await snapshot.get(bytes('ps/a'))), 'old', 'old cut');
    expectEqual(
      (await snapshot.batchGet([bytes('ps/a'), bytes('ps/b')])).map(text),
      ['old', undefined],
      'old cut, several',
    );
    expectEqual(text(await client.get(bytes('ps/a'))), 'new', 'newest');
  });
  await checks.check('basics: 100,000 rows written in batches and scanned', async () => {
    for (let from = 0; from < 100_000; from += 2_000) {
      const txn = await client.begin();
      for (let row = from; row < from + 2_000; row += 1)
        txn.put(bytes(`prow/${String(row).padStart(6, '0')}`), Buffer.alloc(512, 97));
      expectEqual((await txn.commit()).kind, 'committed', 'batch');
    }
    const startMs = performance.now();
    let count = 0;
    for await (const page of (await client.snapshot()).pages(bytes('prow/'), bytes('prow0'))) count += page.length;
    expectEqual(count, 100_000, 'rows');
    return `${Math.round(count / ((performance.now() - startMs) / 1_000))} rows/s`;
  });
  await checks.check('basics: garbage collection moves the safe point and refuses older reads', async () => {
    const old = await client.snapshot();
    await sleep(1_100);
    const { safePoint } = await client.gc.collect(500);
    expectEqual(safePoint > old.timestamp, true, 'safe point');
    expectEqual(
      await old.get(bytes('ps/a')).then(
        () => 'read',
        (error: unknown) => isTikvError(error) && error.code,
      ),
      'gc-too-early',
      'old read',
    );
  });
}

async function cross(lab: Lab): Promise<void> {
  const pd = lab.pdAddresses.join(',');
  await using client = await TikvClient.connect({ pdAddresses: lab.pdAddresses });
  await checks.check('cross: what one writes the other reads', async () => {
    await clientGo(pd, 'put', 'px/go1', 'a', 'px/go2', 'b');
    await write(client, { 'px/ts1': 'c' }, '1pc');
    await write(client, { 'px/ts2': 'd' }, 'async');
    await write(client, { 'px/ts3': 'e' }, '2pc');
    const ours = await rows(client, 'px/', 'px0');
    expectEqual(ours, ['px/go1=a', 'px/go2=b', 'px/ts1=c', 'px/ts2=d', 'px/ts3=e'], 'ours');
    const theirs = (await clientGo(pd, 'scan', 'px/', 'px0')) as [string, string][];
    expectEqual(
      theirs.map(([key, value]) => `${key}=${value}`),
      ours,
      'theirs',
    );
  });
  for (const mode of ['2pc', 'async'] as const) {
    await checks.check(`cross: locks that client-go left (${mode}) are resolved by us`, async () => {
      await write(client, { 'pl/a': '0', 'pl/z': '0' }, '1pc');
      await clientGo(pd, 'orphan', mode, 'pl/a', '1', 'pl/z', '1');
      const startMs = performance.now();
      const found = await rows(client, 'pl/', 'pl0');
      expectEqual(found, mode === 'async' ? ['pl/a=1', 'pl/z=1'] : ['pl/a=0', 'pl/z=0'], 'rows');
      const readMs = performance.now() - startMs;
      await write(client, { 'pl/a': '2', 'pl/z': '2' }, '1pc');
      return `read after ${Math.round(readMs)} ms, written over after ${Math.round(performance.now() - startMs)} ms`;
    });
    // The stores with raft crash on client-go's batched question about an async commit: that half is asked of the one-node store.
    if (mode === '2pc')
      await checks.check(`cross: locks that we left (${mode}) are resolved by client-go`, async () => {
        await write(client, { 'pm/a': '0', 'pm/z': '0' }, '1pc');
        const orphan = spawn(process.execPath, [join(import.meta.dirname, 'orphan-child.ts'), pd, mode], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        await new Promise((resolve) => orphan.stdout.once('data', resolve));
        orphan.kill('SIGKILL');
        const theirs = (await clientGo(pd, 'scan', 'pm/', 'pm0')) as [string, string][];
        const value = '0';
        expectEqual(
          theirs,
          [
            ['pm/a', value],
            ['pm/z', value],
          ],
          'rows',
        );
      });
  }
  await checks.check('cross: both move money in one bank, and its total stays', async () => {
    await openBank(client, 200);
    const [ours, [theirs]] = await Promise.all([
      runBank(client, { accounts: 200, callers: 16, seconds: 20, timeoutMs: 15_000, run: 'cross' }),
      clientGo(pd, 'bank', '200', '16', '20'),
    ]);
    const go = theirs as { moved: number; wrongTotals: number };
    judge(ours, 15_000);
    expectEqual(go.wrongTotals, 0, "client-go's totals");
    return `ours ${JSON.stringify(ours)}; client-go ${JSON.stringify(go)}`;
  });
}

function judge(result: BankResult, timeoutMs: number): void {
  expectEqual(
    [result.wrongTotals, result.lost, result.ghosts, result.halves],
    [0, 0, 0, 0],
    `wrong totals, lost, ghosts, halves in ${JSON.stringify(result)}`,
  );
  // A transfer is three calls, each with a deadline of its own.
  expectEqual(result.longestCallMs < 3 * timeoutMs + 1_000, true, `longest call ${result.longestCallMs}`);
  expectEqual(result.moved > 0, true, 'something moved');
}

async function faults(lab: Lab): Promise<void> {
  const timeoutMs = 15_000;
  await using client = await TikvClient.connect({ pdAddresses: lab.pdAddresses, requestTimeoutMs: 3_000 });
  await client.admin.split(['pbank/0250', 'pbank/0500', 'pbank/0750', 'pledger/', 'pmirror/'].map(bytes));
  await openBank(client, 1_000);
  const under = (name: string, fault: (until: () => boolean) => Promise<void>): Promise<void> =>
    checks.check(`faults: ${name}`, async () => {
      let done = false;
      const running = runBank(client, {
        accounts: 1_000,
        callers: 64,
        seconds,
        timeoutMs,
        run: name.replaceAll(/\W+/g, '-'),
      }).finally(() => {
        done = true;
      });
      running.catch(() => {});
      await sleep(3_000);
      const trouble = await fault(() => done).then(
        () => undefined,
        (error: unknown) => error ?? 'unknown',
      );
      const result = await running;
      if (trouble !== undefined) throw trouble;
      judge(result, timeoutMs);
      const { longestPauseMs, longestCallMs, ...counts } = result;
      return `longest pause ${Math.round(longestPauseMs)} ms, longest transfer ${Math.round(longestCallMs)} ms, ${JSON.stringify(counts)}`;
    });
  await under('no fault, for comparison', async () => {});
  await under('kill -9 and restart of the store that leads most regions', async (done) => {
    while (!done()) {
      const process = await lab.processOf(await lab.busiestStore());
      lab.signal(`s${process}`, 'SIGKILL');
      await sleep(10_000);
      lab.restartStore(process);
      await sleep(20_000);
    }
  });
  await under('a store that stops (SIGSTOP) and goes on', async (done) => {
    while (!done()) {
      const process = await lab.processOf(await lab.busiestStore());
      lab.signal(`s${process}`, 'SIGSTOP');
      await sleep(8_000);
      lab.signal(`s${process}`, 'SIGCONT');
      await sleep(15_000);
    }
  });
  await under('splits every second and transfers of leaders', async (done) => {
    for (let at = 0; !done(); at += 1) {
      await client.admin.split([accountKey((at * 37) % 1_000)], { timeoutMs: 5_000 }).catch(() => undefined);
      const { regions } = (await lab.pdHttp('regions')) as {
        regions: { id: number; leader?: { store_id?: number }; peers: { store_id: number }[] }[];
      };
      const region = regions[Math.floor(Math.random() * regions.length)]!;
      const target = region.peers[Math.floor(Math.random() * region.peers.length)]!.store_id;
      await lab
        .pdHttp('operators', { name: 'transfer-leader', region_id: region.id, to_store_id: target })
        .catch(() => undefined);
      await sleep(1_000);
    }
  });
  if (lab.pds > 1) {
    await under('kill -9 of the leader of PD', async (done) => {
      while (!done()) {
        const leader = await lab.pdLeader();
        lab.signal(`pd${leader}`, 'SIGKILL');
        await sleep(15_000);
        lab.restartPd(leader);
        await sleep(15_000);
      }
    });
  }
  await under('clients that are killed between prewrite and commit', async (done) => {
    for (let at = 0; !done(); at += 1) {
      const child = spawn(
        process.execPath,
        [join(import.meta.dirname, 'bank-child.ts'), lab.pdAddresses.join(','), `child-${at}`],
        { stdio: 'ignore' },
      );
      await sleep(1_500 + Math.random() * 1_500);
      child.kill('SIGKILL');
    }
  });
  await checks.check('faults: the total after all of it', async () => {
    expectEqual((await totalOf(client, 30_000)).total, 1_000 * 1_000, 'total');
  });
}

try {
  const wants = (name: string): boolean => part === 'all' || part === name;
  if (wants('basics') || wants('cross')) {
    await using lab = await Lab.start(join(dir, 'one'), { pds: 1 });
    await lab.replicated();
    if (wants('basics')) await basics(lab);
    if (wants('cross')) await cross(lab);
  }
  if (wants('faults')) {
    await using lab = await Lab.start(join(dir, 'three'), { pds: 3 });
    await lab.replicated();
    await faults(lab);
  }
} finally {
  if (!values.keep) rmSync(dir, { recursive: true, force: true });
}
checks.end('e2e-tikv');

import { Prng } from '@engram/sim';
import { expect, test } from 'vitest';
import { isTikvError, type Undetermined } from '../index.ts';
import type { Fault } from '../testing.ts';
import { Bench, k, text } from './support/bench.ts';

const ACCOUNTS = 12;
const OPENING = 100;
const account = (at: number): Uint8Array => k(`account/${String(at).padStart(2, '0')}`);

/** A random fault. Most requests have none. */
function faultOf(random: Prng): Fault | undefined {
  switch (random.below(60)) {
    case 0:
      return { kind: 'lose' };
    case 1:
      return { kind: 'refuse' };
    case 2:
      return { kind: 'silence', executed: random.below(2) === 0 };
    case 3:
      return { kind: 'twice' };
    case 4:
      return { kind: 'delay', ms: random.below(5_000) };
    case 5:
      return { kind: 'region-error', error: { serverIsBusy: { reason: 'chance' } } };
    case 6:
      return { kind: 'region-error', error: { notLeader: {} } };
    case 7:
      return { kind: 'region-error', error: { staleCommand: {} } };
    default:
      return undefined;
  }
}

async function simulate(seed: number): Promise<void> {
  const random = new Prng(seed);
  const bench = await Bench.make({ pdMembers: 3 }, { requestTimeoutMs: 1_000, random });
  const { cluster, clock, client } = bench;
  cluster.regions.split(account(4), account(8), k('log/'));
  await bench.put(
    Object.fromEntries(Array.from({ length: ACCOUNTS }, (_, at) => [text(account(at))!, String(OPENING)])),
  );
  const undo = cluster.script(() => faultOf(random));
  const acknowledged: string[] = [];
  const refused: string[] = [];
  const open: { name: string; outcome: Undetermined }[] = [];
  const codes = new Set<string>();
  const totals = new Set<number>();
  let working = 6;

  const transfer = async (name: string): Promise<void> => {
    const mode = (['1pc', 'async', '2pc'] as const)[random.below(3)]!;
    const from = random.below(ACCOUNTS);
    const to = (from + 1 + random.below(ACCOUNTS - 1)) % ACCOUNTS;
    let sent = false;
    try {
      const txn = await client.begin({ timeoutMs: 10_000 });
      const [one, other] = await txn.batchGet([account(from), account(to)], { timeoutMs: 10_000 });
      txn.put(account(from), k(String(Number(text(one)) - 1)));
      txn.put(account(to), k(String(Number(text(other)) + 1)));
      txn.insert(k(name), k('x'));
      sent = true;
      const outcome = await txn.commit({ mode, timeoutMs: 10_000 });
      if (outcome.kind === 'committed') acknowledged.push(name);
      else if (outcome.kind === 'undetermined') open.push({ name, outcome });
      else refused.push(name);
    } catch (error) {
      if (!isTikvError(error)) throw error;
      codes.add(error.code);
      if (sent) refused.push(name);
    }
  };
  const worker = async (id: number): Promise<void> => {
    for (let turn = 0; turn < 25; turn += 1) await transfer(`log/${id}/${turn}`);
    working -= 1;
  };
  const audit = async (): Promise<void> => {
    while (working > 0) {
      try {
        const snapshot = await client.snapshot({ timeoutMs: 20_000 });
        let total = 0;
        for await (const { value } of snapshot.scan(k('account/'), k('account0'), { timeoutMs: 20_000, pageRows: 2 }))
          total += Number(text(value));
        totals.add(total);
      } catch (error) {
        if (!isTikvError(error)) throw error;
        codes.add(error.code);
      }
      await new Promise<void>((resolve) => void clock.after(50, resolve));
    }
  };
  const trouble = async (): Promise<void> => {
    while (working > 0) {
      await new Promise<void>((resolve) => void clock.after(200 + random.below(400), resolve));
      const at = account(random.below(ACCOUNTS));
      const next = cluster.regions.all().indexOf(cluster.regions.holding(at)) + 1;
      switch (random.below(5)) {
        case 0:
          cluster.regions.split(at);
          break;
        case 1:
          if (next < cluster.regions.all().length) cluster.regions.mergeWithNext(at);
          break;
        case 2:
          cluster.regions.transferLeader(at, 1 + random.below(3));
          break;
        case 3:
          cluster.breakStreams(cluster.addressOf(1 + random.below(3)));
          break;
        default:
          cluster.pd.leader = random.below(3);
      }
    }
  };
  await bench.run(Promise.all([audit(), trouble(), ...Array.from({ length: 6 }, (_, id) => worker(id))]));
  undo();
  for (const { name, outcome } of open) {
    const settled = await bench.run(outcome.settle());
    (settled.kind === 'committed' ? acknowledged : refused).push(name);
  }
  expect([...totals], 'totals').toEqual([ACCOUNTS * OPENING]);
  const there = new Set((await bench.scan('log/', 'log0')).map((row) => row.split('=')[0]!));
  expect(
    acknowledged.filter((name) => !there.has(name)),
    'lost',
  ).toEqual([]);
  expect(
    refused.filter((name) => there.has(name)),
    'ghosts',
  ).toEqual([]);
  const rows = await bench.scan('account/', 'account0');
  expect(rows.reduce((sum, row) => sum + Number(row.split('=')[1]), 0)).toBe(ACCOUNTS * OPENING);
  for (const code of codes)
    expect(['deadline-exceeded', 'backoff-exhausted', 'region-unavailable'], code).toContain(code);
  expect(acknowledged.length).toBeGreaterThan(20);
  await bench.run(client.close(0));
  await clock.pass(30_000);
  expect(cluster.openStreams).toBe(0);
  expect(clock.waiting).toBe(0);
}

const first = Number(process.env['SEED'] ?? 1);
const seeds = process.env['SEED'] === undefined ? [1, 2, 3, 4, 5, 6] : [first];
test.each(seeds)('a bank under all faults at once keeps its money and its word (SEED=%i)', simulate);

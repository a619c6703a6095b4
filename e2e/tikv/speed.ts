// Compares this project's client with client-go on the same lab, in one run, in turn for each line and round:
//   node speed.ts [--callers 1,16,64,256] [--seconds 3] [--rounds 2] [--modes ...] [--rows 100000]
// Prints one line for each mode and number of callers: both throughputs, their ratio, latencies and CPU for an operation.
// Both are warm when a line begins: half a second of the same work, by few callers, does not count.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { TikvClient } from '@engram/tikv-client';
import { clientGo, Lab } from './lab.ts';

const { values } = parseArgs({
  options: {
    callers: { type: 'string', default: '1,16,64,256' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '2' },
    modes: { type: 'string', default: 'newest,get,batchget,2pc,async,1pc,1pc128,scan' },
    rows: { type: 'string', default: '100000' },
  },
});
const seconds = Number(values.seconds);
const rows = Number(values.rows);
/** One byte for each character. TextEncoder takes four times as long, and is not part of the comparison. */
const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const value = Buffer.alloc(512, 'abcdefghijklmnopqrstuvwxyz');
/** The raft store takes one entry at a time if it is larger than 64 KiB. 128 records stay below that. */
const smallValue = value.subarray(0, 256);
const rowPrefix = bytes('prow/');
function rowKey(at: number): Uint8Array {
  const key = new Uint8Array(rowPrefix.length + 6);
  key.set(rowPrefix);
  for (let rest = at, place = key.length - 1; place >= rowPrefix.length; place -= 1, rest = Math.floor(rest / 10))
    key[place] = 0x30 + (rest % 10);
  return key;
}
const padded = (count: number, width: number): string => String(count).padStart(width, '0');
/**
 * The prefix of the keys of one transaction. As on client-go's side, keys have one length and are in order, on which
 * the stores' compactions depend. No round reuses the keys of an earlier one.
 */
const prefixOf = (mode: string, caller: number, turn: number): string =>
  `pbench/ts/${padded(run, 6)}/${mode}/${padded(caller, 3)}/${padded(turn, 9)}/`;
let run = 0;
const places = Array.from({ length: 128 }, (_, at) => padded(at, 3));
const anyRow = (): Uint8Array => rowKey(Math.floor(Math.random() * rows));

interface Line {
  readonly client: string;
  readonly mode: string;
  readonly callers: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
  readonly cpuUsPerOp: number;
}

async function one(client: TikvClient, mode: string, caller: number, turn: number): Promise<void> {
  switch (mode) {
    case 'newest':
      await client.get(anyRow());
      return;
    case 'get':
      await (await client.snapshot()).get(anyRow());
      return;
    case 'batchget':
      await (await client.snapshot()).batchGet(Array.from({ length: 100 }, anyRow));
      return;
    case 'scan': {
      let count = 0;
      for await (const page of (await client.snapshot()).pages(bytes('prow/'), bytes('prow0'))) count += page.length;
      if (count < rows) throw new Error(`${count} rows`);
      return;
    }
    default: {
      const txn = await client.begin();
      const prefix = prefixOf(mode, caller, turn);
      if (mode === '1pc128') for (const place of places) txn.put(bytes(prefix + place), smallValue);
      else txn.put(bytes(prefix + places[0]), value);
      const outcome = await txn.commit({ mode: mode === '1pc128' ? '1pc' : (mode as '1pc' | 'async' | '2pc') });
      if (outcome.kind !== 'committed') throw new Error(outcome.kind);
    }
  }
}

async function measure(client: TikvClient, mode: string, callers: number, seconds: number): Promise<Line> {
  const latencies: number[] = [];
  let errors = 0;
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  const endMs = startMs + seconds * 1_000;
  const work = async (caller: number): Promise<void> => {
    for (let turn = 0; performance.now() < endMs; turn += 1) {
      const beganMs = performance.now();
      try {
        await one(client, mode, caller, turn);
        latencies.push(performance.now() - beganMs);
      } catch {
        errors += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => work(caller)));
  const tookMs = performance.now() - startMs;
  const used = process.cpuUsage(cpu);
  latencies.sort((left, right) => left - right);
  const quantile = (at: number): number => latencies[Math.floor((latencies.length - 1) * at)] ?? 0;
  return {
    client: 'ours',
    mode,
    callers,
    errors,
    perSecond: latencies.length / (tookMs / 1_000),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    cpuUsPerOp: (used.user + used.system) / Math.max(1, latencies.length),
  };
}

/** Combines several rounds: rates and CPU over their total time, latencies as the mean of theirs. */
function together(lines: readonly Line[]): Omit<Line, 'client' | 'mode' | 'callers'> {
  const mean = (of: (line: Line) => number): number => lines.reduce((sum, line) => sum + of(line), 0) / lines.length;
  const perSecond = mean((line) => line.perSecond);
  return {
    perSecond,
    p50Ms: mean((line) => line.p50Ms),
    p99Ms: mean((line) => line.p99Ms),
    cpuUsPerOp: mean((line) => line.cpuUsPerOp * line.perSecond) / perSecond,
    errors: lines.reduce((sum, line) => sum + line.errors, 0),
  };
}

const WARM_CALLERS = 4;
const WARM_SECONDS = 0.5;
const REST_MS = 1_000;
const dir = mkdtempSync(join(process.env['TMPDIR'] ?? '/tmp', 'tikv-speed-'));
try {
  // Writers of whole batches outrun the store's compactions. The store would then stop for seconds, in either client's turn.
  await using lab = await Lab.startReplicated(join(dir, 'lab'), { levelZeroStall: 1_000, strict: false });
  await using client = await TikvClient.connect({ pdAddresses: lab.pdAddresses });
  for (let from = 0; from < rows; from += 1_000) {
    const txn = await client.begin();
    for (let at = from; at < Math.min(rows, from + 1_000); at += 1) txn.put(rowKey(at), value);
    const outcome = await txn.commit();
    if (outcome.kind !== 'committed') throw new Error(outcome.kind);
  }
  await client.admin.split([rowKey(rows / 4), rowKey(rows / 2), rowKey((rows * 3) / 4)]);
  console.log(
    'mode      callers      ours/s  client-go/s  ratio   ours p50 p99 ms   client-go p50 p99 ms   CPU us per op: ours client-go',
  );
  for (const mode of values.modes.split(',')) {
    for (const callers of values.callers.split(',').map(Number)) {
      const lines: Record<'ours' | 'theirs', Line[]> = { ours: [], theirs: [] };
      const pd = lab.pdAddresses.join(',');
      const warmCallers = Math.min(callers, WARM_CALLERS);
      const sides = {
        ours: async (): Promise<Line> => {
          run += 1;
          await measure(client, mode, warmCallers, WARM_SECONDS);
          return measure(client, mode, callers, seconds);
        },
        theirs: async (): Promise<Line> => {
          const sizes = [callers, seconds, rows, warmCallers, WARM_SECONDS].map(String);
          return ((await clientGo(pd, 'bench', mode, ...sizes)) as [Line])[0];
        },
      };
      for (let round = 0; round < Number(values.rounds); round += 1) {
        // The stores still compact what the other client wrote: each client runs second equally often, and after a rest.
        for (const side of round % 2 === 0 ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const)) {
          await sleep(REST_MS);
          lines[side].push(await sides[side]());
        }
      }
      const ours = together(lines.ours);
      const theirs = together(lines.theirs);
      const show = (number: number, digits = 1): string => number.toFixed(digits).padStart(8);
      console.log(
        `${mode.padEnd(9)} ${String(callers).padStart(6)} ${show(ours.perSecond)} ${show(theirs.perSecond)}    ${(ours.perSecond / theirs.perSecond).toFixed(2).padStart(5)}  ` +
          `${show(ours.p50Ms, 2)} ${show(ours.p99Ms, 2)} ${show(theirs.p50Ms, 2)} ${show(theirs.p99Ms, 2)} ${show(ours.cpuUsPerOp, 0)} ${show(theirs.cpuUsPerOp, 0)}` +
          (ours.errors + theirs.errors > 0 ? `  errors ${ours.errors} ${theirs.errors}` : ''),
      );
    }
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}

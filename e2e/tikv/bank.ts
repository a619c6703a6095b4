import { setTimeout as sleep } from 'node:timers/promises';
import { isTikvError, type Snapshot, type TikvClient, type Undetermined } from '@engram/tikv-client';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (value: Uint8Array): string => Buffer.from(value).toString();
export const accountKey = (at: number): Uint8Array => bytes(`pbank/${String(at).padStart(4, '0')}`);

export interface BankResult {
  moved: number;
  conflicts: number;
  failed: number;
  undetermined: number;
  settledCommitted: number;
  /** Snapshots with a wrong total. */
  wrongTotals: number;
  snapshots: number;
  /** For each of them, the result of a second reading. */
  readonly explained: string[];
  /** Acknowledged transfers without a record, and refused transfers with a record. */
  lost: number;
  ghosts: number;
  /** Transactions with only one of their two records. */
  halves: number;
  longestPauseMs: number;
  longestCallMs: number;
  readonly errors: Record<string, number>;
}

export interface BankOptions {
  readonly accounts: number;
  readonly callers: number;
  readonly seconds: number;
  readonly timeoutMs: number;
  /** Keeps the records of several runs apart. */
  readonly run: string;
}

const mirrorOf = (name: string): string => name.replace('pledger', 'pmirror');

const OPENING = 1_000;

export async function openBank(client: TikvClient, accounts: number): Promise<void> {
  const txn = await client.begin();
  for (let at = 0; at < accounts; at += 1) txn.put(accountKey(at), bytes(String(OPENING)));
  const outcome = await txn.commit({ mode: '2pc' });
  if (outcome.kind !== 'committed') throw new Error(`the bank could not open: ${outcome.kind}`);
}

export async function totalOf(client: TikvClient, timeoutMs: number): Promise<{ total: number; accounts: number }> {
  return sumOf(await balancesAt(await client.snapshot({ timeoutMs }), timeoutMs));
}

const sumOf = (balances: ReadonlyMap<string, number>): { total: number; accounts: number } => ({
  total: [...balances.values()].reduce((sum, balance) => sum + balance, 0),
  accounts: balances.size,
});

async function balancesAt(snapshot: Snapshot, timeoutMs: number): Promise<ReadonlyMap<string, number>> {
  const balances = new Map<string, number>();
  for await (const { key, value } of snapshot.scan(bytes('pbank/'), bytes('pbank0'), { timeoutMs }))
    balances.set(text(key), Number(text(value)));
  return balances;
}

/** The same by batch gets, for which the stores search rows in other ways than for a scan. */
async function balancesOf(
  snapshot: Snapshot,
  accounts: number,
  timeoutMs: number,
): Promise<ReadonlyMap<string, number>> {
  const keys = Array.from({ length: accounts }, (_, at) => accountKey(at));
  const values = await snapshot.batchGet(keys, { timeoutMs });
  return new Map(
    keys.flatMap((key, at) => {
      const value = values[at];
      return value === undefined ? [] : [[text(key), Number(text(value))] as const];
    }),
  );
}

/**
 * Reads a snapshot again. Both readings must be equal: if they differ, the first one did not have the state of its
 * timestamp.
 */
async function explain(
  client: TikvClient,
  snapshot: Snapshot,
  first: ReadonlyMap<string, number>,
  timeoutMs: number,
): Promise<string> {
  const again = await balancesAt(client.snapshotAt(snapshot.timestamp), timeoutMs);
  const changed = [...again].filter(([key, balance]) => first.get(key) !== balance);
  return `total ${sumOf(first).total} at ${snapshot.timestamp}, read again ${sumOf(again).total}: ${changed
    .slice(0, 5)
    .map(([key, balance]) => `${key} ${first.get(key)} -> ${balance}`)
    .join(', ')}`;
}

/**
 * Callers move money at random with two-phase commits. In between they write records without money with one-phase and
 * async commits: the raft store of the lab takes a commit timestamp before readers can see what it covers, so with
 * those two modes client-go's totals go wrong on it as well. Every transaction inserts two records far apart.
 * Afterwards the acknowledged transactions are compared with the stored records, and no transaction may have only one
 * of them.
 */
export async function runBank(client: TikvClient, options: BankOptions): Promise<BankResult> {
  const { accounts, callers, timeoutMs, run } = options;
  const result: BankResult = {
    moved: 0,
    conflicts: 0,
    failed: 0,
    undetermined: 0,
    settledCommitted: 0,
    wrongTotals: 0,
    snapshots: 0,
    explained: [],
    lost: 0,
    ghosts: 0,
    halves: 0,
    longestPauseMs: 0,
    longestCallMs: 0,
    errors: {},
  };
  const expected = accounts * OPENING;
  const acknowledged: string[] = [];
  const refused: string[] = [];
  const open: { name: string; outcome: Undetermined }[] = [];
  const endMs = performance.now() + options.seconds * 1_000;
  let lastMs = performance.now();
  const acknowledge = (): void => {
    const nowMs = performance.now();
    result.longestPauseMs = Math.max(result.longestPauseMs, nowMs - lastMs);
    lastMs = nowMs;
  };

  const transfer = async (caller: number, turn: number): Promise<void> => {
    const from = Math.floor(Math.random() * accounts);
    const to = (from + 1 + Math.floor(Math.random() * (accounts - 1))) % accounts;
    const amount = 1 + Math.floor(Math.random() * 9);
    const name = `pledger/${run}/${caller}/${turn}`;
    const startMs = performance.now();
    let sent = false;
    try {
      await using txn = await client.begin({ timeoutMs });
      const mode = (['2pc', '1pc', '2pc', 'async'] as const)[turn % 4]!;
      if (mode === '2pc') {
        const [one, other] = await txn.batchGet([accountKey(from), accountKey(to)], { timeoutMs });
        txn.put(accountKey(from), bytes(String(Number(text(one!)) - amount)));
        txn.put(accountKey(to), bytes(String(Number(text(other!)) + amount)));
      }
      txn.insert(bytes(name), bytes(`${from} ${to} ${amount}`));
      if (mode !== '1pc') txn.insert(bytes(mirrorOf(name)), bytes('x'));
      sent = true;
      const outcome = await txn.commit({ mode, timeoutMs });
      if (outcome.kind === 'committed') {
        result.moved += 1;
        acknowledged.push(name);
        acknowledge();
      } else if (outcome.kind === 'undetermined') {
        result.undetermined += 1;
        open.push({ name, outcome });
      } else {
        result.conflicts += 1;
        refused.push(name);
      }
    } catch (error) {
      result.failed += 1;
      const code = isTikvError(error) ? error.code : String(error);
      result.errors[code] = (result.errors[code] ?? 0) + 1;
      if (sent) refused.push(name);
      await sleep(10);
    } finally {
      result.longestCallMs = Math.max(result.longestCallMs, performance.now() - startMs);
    }
  };
  const audit = async (): Promise<void> => {
    while (performance.now() < endMs) {
      await sleep(250);
      try {
        const snapshot = await client.snapshot({ timeoutMs });
        const scanned = await balancesAt(snapshot, timeoutMs);
        const got = await balancesOf(snapshot, accounts, timeoutMs);
        result.snapshots += 1;
        const wrong = [scanned, got].find((balances) => {
          const { total, accounts: found } = sumOf(balances);
          return total !== expected || found !== accounts;
        });
        if (wrong === undefined) continue;
        result.wrongTotals += 1;
        const how = wrong === scanned ? 'by scan' : 'by batch get';
        result.explained.push(`${how}: ${await explain(client, snapshot, wrong, timeoutMs)}`);
      } catch (error) {
        const code = `audit: ${isTikvError(error) ? error.code : String(error)}`;
        result.errors[code] = (result.errors[code] ?? 0) + 1;
      }
    }
  };
  const work = async (caller: number): Promise<void> => {
    for (let turn = 0; performance.now() < endMs; turn += 1) await transfer(caller, turn);
  };
  await Promise.all([audit(), ...Array.from({ length: callers }, (_, caller) => work(caller))]);
  acknowledge();

  for (const { name, outcome } of open) {
    const settled = await outcome.settle({ timeoutMs: 60_000 });
    if (settled.kind === 'committed') {
      result.settledCommitted += 1;
      acknowledged.push(name);
    } else refused.push(name);
  }
  const snapshot = await client.snapshot({ timeoutMs: 60_000 });
  const keysUnder = async (prefix: string): Promise<Set<string>> => {
    const found = new Set<string>();
    const range = snapshot.scan(bytes(`${prefix}/${run}/`), bytes(`${prefix}/${run}0`), {
      timeoutMs: 60_000,
      keysOnly: true,
    });
    for await (const { key } of range) found.add(text(key));
    return found;
  };
  const there = await keysUnder('pledger');
  const mirrors = await keysUnder('pmirror');
  const twoKeys = (name: string): boolean => Number(name.split('/')[3]) % 4 !== 1;
  result.halves = [...there].filter((name) => twoKeys(name) && !mirrors.has(mirrorOf(name))).length;
  result.halves += [...mirrors].filter((name) => !there.has(name.replace('pmirror', 'pledger'))).length;
  result.lost = acknowledged.filter((name) => !there.has(name)).length;
  result.ghosts = refused.filter((name) => there.has(name)).length;
  const end = await totalOf(client, 60_000);
  if (end.total !== expected || end.accounts !== accounts) result.wrongTotals += 1;
  return result;
}

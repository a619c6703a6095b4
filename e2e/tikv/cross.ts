import { TikvClient } from '@engram/tikv-client';
import { openBank, runBank } from './bank.ts';
import { type Checks, expectEqual } from './check.ts';
import { judge } from './faults.ts';
import { clientGo, type Lab } from './lab.ts';
import { leaveLocks } from './orphan.ts';
import { rows, write } from './rows.ts';

/** Each client reads and resolves what the other one writes or leaves locked. */
export async function cross(checks: Checks, lab: Lab, bankSeconds: number): Promise<void> {
  const pd = lab.pdDirect.join(',');
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
    await checks.check(`cross: locks that we left (${mode}) are resolved by client-go`, async () => {
      await write(client, { 'pm/a': '0', 'pm/z': '0' }, '1pc');
      await leaveLocks(lab, mode, { 'pm/a': '1', 'pm/z': '1' });
      // All keys of the async commit are locked, so it is committed.
      const value = mode === 'async' ? '1' : '0';
      const theirs = (await clientGo(pd, 'scan', 'pm/', 'pm0')) as [string, string][];
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
    // With fewer accounts client-go's readers keep the store's latches of single keys busy for minutes.
    await openBank(client, 1_000);
    const [ours, [theirs]] = await Promise.all([
      runBank(client, { accounts: 1_000, callers: 16, seconds: bankSeconds, timeoutMs: 15_000, run: 'cross' }),
      clientGo(pd, 'bank', '1000', '16', String(bankSeconds)),
    ]);
    const go = theirs as { moved: number; wrongTotals: number };
    judge(ours, 15_000);
    expectEqual(go.wrongTotals, 0, "client-go's totals");
    return `ours ${JSON.stringify(ours)}; client-go ${JSON.stringify(go)}`;
  });
}

import { isTikvError, TikvClient } from '@engram/tikv-client';
import { openBank, runBank } from './bank.ts';
import { type Checks, expectEqual } from './check.ts';
import { judge } from './faults.ts';
import { clientGo, type Lab } from './lab.ts';
import { leaveLocks } from './orphan.ts';
import { bytes, rows, text, write } from './rows.ts';
import { silenceable } from './silence.ts';

/**
 * Checks functions that only the newer store has: assertions and advice about locks. Also checks again what both
 * clients leave behind.
 */
export async function oneNode(checks: Checks, lab: Lab, bankSeconds: number): Promise<void> {
  const pd = lab.pdDirect.join(',');
  await using client = await TikvClient.connect({ pdAddresses: lab.pdAddresses });
  const codeOf = (failed: Promise<unknown>): Promise<unknown> =>
    failed.then(
      () => 'no failure',
      (error: unknown) => (isTikvError(error) ? error.code : error),
    );

  await checks.check('one node: one phase, async commit and two phases, each as asked for', async () => {
    for (const mode of ['1pc', 'async', '2pc'] as const) {
      const txn = await client.begin();
      for (let row = 0; row < 20; row += 1) txn.put(bytes(`na/${row}`), bytes(mode));
      const outcome = await txn.commit({ mode });
      expectEqual(outcome.kind === 'committed' && outcome.mode, mode, 'mode');
      expectEqual((await rows(client, 'na/', 'na0')).filter((row) => row.endsWith(`=${mode}`)).length, 20, mode);
      const theirs = (await clientGo(pd, 'scan', 'na/', 'na0')) as [string, string][];
      expectEqual(theirs.filter(([, value]) => value === mode).length, 20, `${mode}, as client-go reads it`);
    }
  });

  await checks.check('one node: a wrong assertion ends the transaction, a right one does not', async () => {
    await write(client, { 'nb/there': '1' }, '2pc');
    for (const mode of ['1pc', 'async', '2pc'] as const) {
      const wrong = await client.begin();
      wrong.put(bytes('nb/there'), bytes('2'));
      wrong.put(bytes('nb/other'), bytes('2'));
      wrong.assertNotExists(bytes('nb/there'));
      expectEqual(await codeOf(wrong.commit({ mode, assertionLevel: 2 })), 'assertion-failed', mode);
      const missing = await client.begin();
      missing.put(bytes('nb/missing'), bytes('2'));
      missing.assertExists(bytes('nb/missing'));
      expectEqual(await codeOf(missing.commit({ mode, assertionLevel: 2 })), 'assertion-failed', mode);
      const right = await client.begin();
      right.put(bytes('nb/there'), bytes('1'));
      right.assertExists(bytes('nb/there'));
      expectEqual((await right.commit({ mode, assertionLevel: 2 })).kind, 'committed', `${mode}, right`);
      expectEqual(await rows(client, 'nb/', 'nb0'), ['nb/there=1'], `${mode}, rows`);
    }
  });

  await checks.check('one node: a reader reads through the lock of a committed transaction', async () => {
    await write(client, { 'nc/a': 'old', 'nc/z': 'old' }, '2pc');
    const { transport, silence } = silenceable();
    // This client dies after the primary is committed and before the secondary is.
    const dying = await TikvClient.connect({
      pdAddresses: lab.pdAddresses,
      transport,
      observer: { storeCall: ({ command }) => command === 'Commit' && silence() },
    });
    try {
      await write(dying, { 'nc/a': 'new', 'nc/z': 'new' }, '2pc');
      const calls: string[] = [];
      const locks: string[] = [];
      await using reader = await TikvClient.connect({
        pdAddresses: lab.pdAddresses,
        observer: { storeCall: ({ command }) => calls.push(command), lock: (state) => locks.push(state) },
      });
      expectEqual(text(await (await reader.snapshot()).get(bytes('nc/z'))), 'new', 'value');
      expectEqual(locks, ['committed'], 'locks');
      // Lock found, state checked, value read: no write was needed before the answer.
      expectEqual(calls.filter((command) => command !== 'ResolveLock').join(), 'Get,CheckTxnStatus,Get', 'requests');
    } finally {
      await dying.close(0);
    }
  });

  for (const mode of ['2pc', 'async'] as const) {
    await checks.check(`one node: locks that client-go left (${mode}) are resolved by us`, async () => {
      await write(client, { 'nl/a': '0', 'nl/z': '0' }, '1pc');
      await clientGo(pd, 'orphan', mode, 'nl/a', '1', 'nl/z', '1');
      const value = mode === 'async' ? '1' : '0';
      expectEqual(await rows(client, 'nl/', 'nl0'), [`nl/a=${value}`, `nl/z=${value}`], 'rows');
    });
    await checks.check(`one node: locks that we left (${mode}) are resolved by client-go`, async () => {
      await write(client, { 'nm/a': '0', 'nm/z': '0' }, '1pc');
      await leaveLocks(lab, mode, { 'nm/a': '1', 'nm/z': '1' });
      // All keys of the async commit are locked, so it is committed.
      const value = mode === 'async' ? '1' : '0';
      const theirs = (await clientGo(pd, 'scan', 'nm/', 'nm0')) as [string, string][];
      expectEqual(
        theirs,
        [
          ['nm/a', value],
          ['nm/z', value],
        ],
        'rows',
      );
    });
  }

  await checks.check('one node: both move money in one bank, and its total stays', async () => {
    await openBank(client, 1_000);
    const [ours, [theirs]] = await Promise.all([
      runBank(client, { accounts: 1_000, callers: 16, seconds: bankSeconds, timeoutMs: 15_000, run: 'onenode' }),
      clientGo(pd, 'bank', '1000', '16', String(bankSeconds)),
    ]);
    judge(ours, 15_000);
    expectEqual((theirs as { wrongTotals: number }).wrongTotals, 0, "client-go's totals");
    return `ours ${JSON.stringify(ours)}; client-go ${JSON.stringify(theirs)}`;
  });
}

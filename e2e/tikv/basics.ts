import { setTimeout as sleep } from 'node:timers/promises';
import { isTikvError, TikvClient, type Undetermined } from '@engram/tikv-client';
import { shiftTimestamp } from '@engram/tso';
import { type Checks, expectEqual } from './check.ts';
import type { Lab } from './lab.ts';
import { bytes, rows, text, write } from './rows.ts';
import { deafenable } from './silence.ts';

/** Commits, scans, snapshots, garbage collection. */
export async function basics(checks: Checks, lab: Lab): Promise<void> {
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
    expectEqual((await fenced.commitOnePhase()).kind, 'exists', 'check');
    expectEqual(await client.get(bytes('pc/b')), undefined, 'nothing was written');
    const remove = await client.begin();
    remove.delete(bytes('pc/a'));
    expectEqual((await remove.commit()).kind, 'committed', 'delete');
    expectEqual(await client.get(bytes('pc/a')), undefined, 'deleted');
  });
  await checks.check('basics: one phase or nothing, with start timestamps of a pool', async () => {
    const pool = [...(await client.timestamps(8))];
    const older = pool.shift()!;
    const append = async (slot: string, startTs = pool.shift()!): Promise<string> => {
      const txn = client.beginAt(startTs);
      txn.checkNotExists(bytes('pf/seal'));
      txn.insert(bytes(`pf/${slot}`), bytes('batch'));
      return (await txn.commitOnePhase({ causal: true })).kind;
    };
    expectEqual(await append('1'), 'committed', 'first');
    // TiKV commits in one phase at one above the newest timestamp that it has heard: not above all that PD has given out.
    expectEqual(await append('1', older), 'conflict', 'a slot that was taken after the start timestamp');
    const newer = await client.timestamp();
    expectEqual(await append('1', newer), 'exists', 'a slot that was taken before the start timestamp');
    expectEqual(await append('2'), 'committed', 'second');
    const seal = await client.begin();
    seal.insert(bytes('pf/seal'), bytes('2'));
    expectEqual((await seal.commitOnePhase()).kind, 'committed', 'seal');
    expectEqual(await append('3'), 'conflict', 'sealed after the start timestamp');
    pool.unshift(await client.timestamp());
    expectEqual(await append('3'), 'exists', 'sealed before the start timestamp');
    await client.admin.split(['pf/8'].map(bytes));
    pool.unshift(await client.timestamp());
    expectEqual(await append('6'), 'not-one-phase', 'over two regions');
    expectEqual(await rows(client, 'pf/', 'pf0'), ['pf/1=batch', 'pf/2=batch', 'pf/seal=2'], 'rows');
  });
  for (const mode of ['1pc', 'async', '2pc'] as const) {
    await checks.check(`basics: ${mode}, the answers are lost: undetermined, and settle finds out`, async () => {
      const line = deafenable();
      await using deaf = await TikvClient.connect({
        pdAddresses: lab.pdAddresses,
        transport: line.transport,
        requestTimeoutMs: 500,
      });
      const keys = ['a', 'b', 'c'].map((name) => `pu/${mode}/${name}`);
      await write(deaf, Object.fromEntries(keys.map((key) => [key, 'old'])), '2pc');
      await deaf.idle();
      const txn = await deaf.begin();
      for (const key of keys) txn.put(bytes(key), bytes('new'));
      line.deaf = true;
      const outcome = await txn.commit({ mode, timeoutMs: 1_200 }).catch((error: unknown) => error);
      line.deaf = false;
      // A two-phase commit did not get beyond its first phase, so its failure is definite.
      if (mode === '2pc') {
        expectEqual(isTikvError(outcome, 'deadline-exceeded'), true, 'definite failure');
        await deaf.idle();
        expectEqual(
          await rows(client, `pu/${mode}/`, `pu/${mode}0`),
          keys.map((key) => `${key}=old`),
          'rows',
        );
        return;
      }
      if (!(typeof outcome === 'object' && outcome !== null && 'settle' in outcome)) throw new Error(String(outcome));
      expectEqual((await (outcome as Undetermined).settle()).kind, 'committed', 'settled');
      expectEqual(
        await rows(client, `pu/${mode}/`, `pu/${mode}0`),
        keys.map((key) => `${key}=new`),
        'rows',
      );
    });
  }
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
  await checks.check('basics: a timestamp from the future is refused by the client, not by the servers', async () => {
    const future = shiftTimestamp(await client.timestamp(), 600_000);
    const code = (promise: Promise<unknown>): Promise<unknown> =>
      promise.then(
        () => 'no failure',
        (error: unknown) => isTikvError(error) && error.code,
      );
    expectEqual(await code(client.snapshotAt(future).get(bytes('ps/a'))), 'future-timestamp', 'read');
    expectEqual(await code(client.gc.hold('e2e', future, 60)), 'future-timestamp', 'safe point');
  });
}

import { setTimeout as sleep } from 'node:timers/promises';
import { TikvClient } from '@engram/tikv-client';
import { type Checks, expectEqual } from './check.ts';
import type { Lab } from './lab.ts';
import { bytes } from './rows.ts';

/** Reads old versions from tables: for a lab whose memory tables are so small that nothing stays in them. */
export async function tables(checks: Checks, lab: Lab): Promise<void> {
  await using client = await TikvClient.connect({ pdAddresses: lab.pdAddresses });
  await checks.check('tables: snapshots stay as they were when their store has put them into tables', async () => {
    const keys = Array.from({ length: 2_000 }, (_, row) => bytes(`pv/${String(row).padStart(4, '0')}`));
    const snapshots = [];
    for (let round = 0; round < 12; round += 1) {
      const txn = await client.begin();
      for (const key of keys) txn.put(key, Buffer.alloc(256, 97 + round));
      expectEqual((await txn.commit()).kind, 'committed', 'round');
      snapshots.push(await client.snapshot());
    }
    // At first the versions come from the first tables, a little later from those that compaction makes of them.
    for (const afterMs of [0, 2_000]) {
      await sleep(afterMs);
      for (const [round, snapshot] of snapshots.entries()) {
        const right = (value: Uint8Array | undefined): boolean => value?.[0] === 97 + round;
        const got = await snapshot.batchGet(keys);
        let scanned = 0;
        for await (const { value } of snapshot.scan(bytes('pv/'), bytes('pv0'))) if (right(value)) scanned += 1;
        expectEqual([got.filter(right).length, scanned], [2_000, 2_000], `right rows of round ${round}`);
      }
    }
  });
}

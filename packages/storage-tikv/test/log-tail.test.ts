import { never, sealOf } from '@engram/storage/testing';
import { expect, test } from 'vitest';
import { emptyChain } from '../src/format/chain.ts';
import { LogKeys } from '../src/format/log-keys.ts';
import { findTail } from '../src/log/log-tail.ts';
import { batchOf } from './sim-bed.ts';
import { clusterId, TikvBed } from './tikv-bed.ts';

/** The rows of a log to which two storages appended four records each, the second one after a takeover. */
async function twoSegments(bed: TikvBed): Promise<{ readonly key: Uint8Array; readonly value: Uint8Array }[]> {
  const [first, second] = [await bed.open({ prefix: 'made' }), await bed.open({ prefix: 'made' })];
  await first.log.seal(sealOf(1));
  await first.log.append(batchOf(1, 4), sealOf(1));
  await second.log.seal(sealOf(2));
  await second.log.append(batchOf(5, 8), sealOf(2));
  const keys = new LogKeys('made');
  const rows: { readonly key: Uint8Array; readonly value: Uint8Array }[] = [];
  const snapshot = await bed.client.snapshot();
  for await (const { key, value } of snapshot.scan(keys.logStart, keys.logEnd)) rows.push({ key, value });
  return rows;
}

test.each([true, false])(
  'the end of the log is found where a snapshot shows batches without the seal before them (the seal comes later: %s)',
  async (later) => {
    await using bed = await TikvBed.make({ local: 'memory' });
    const [from, keys] = [new LogKeys('made'), new LogKeys('torn')];
    const rows = (await twoSegments(bed)).map(({ key, value }) => {
      const parsed = from.parse(key)!;
      const to =
        parsed.kind === 'seal' ? keys.seal(parsed.segment) : keys.slot(parsed.segment, parsed.first, parsed.part);
      return { seal: parsed.kind === 'seal' ? parsed.segment : undefined, key: to, value };
    });
    const last = Math.max(...rows.map(({ seal }) => seal ?? 0));
    const put = async (seals: boolean): Promise<void> => {
      const txn = await bed.client.begin();
      for (const { seal, key, value } of rows) if ((seal === last) === seals) txn.put(key, value);
      expect((await txn.commit()).kind).toBe('committed');
    };
    await put(false);
    const snapshot = await bed.client.snapshot();
    if (later) await put(true);
    const source = { client: bed.client, keys, empty: emptyChain(clusterId), name: 'log', timeoutMs: 5_000 };
    const tail = findTail(source, snapshot, never);
    if (later) await expect(tail).resolves.toMatchObject({ segment: last + 1, next: 9, owner: { seal: sealOf(2) } });
    else await expect(tail).rejects.toThrow(`segment ${last + 1} has batches, and the one before has no seal`);
  },
);

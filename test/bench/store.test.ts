import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Store } from '../../bench/support/store.ts';
import { EtcdClient } from '../support/etcd-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'engram-bench-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a measured store starts, is looked at, restarts with its data, and leaves nothing', async () => {
  {
    await using store = await Store.start('engram', folder);
    using client = new EtcdClient(store.target);
    const key = Buffer.from('/key');
    await client.put({ key, value: Buffer.alloc(100_000, 'v') });

    const usage = store.usage();
    expect(usage.cpuSeconds).toBeGreaterThan(0);
    expect(usage.anonymousMb).toBeGreaterThan(1);
    expect(usage.residentMb).toBeGreaterThanOrEqual(usage.anonymousMb);
    expect(usage.peakMb).toBeGreaterThanOrEqual(usage.residentMb);
    expect(store.diskMb()).toBeGreaterThan(0.05);

    for (const end of ['stop', 'kill'] as const) {
      await store[end]();
      expect(store.running).toBe(false);
      expect(() => store.usage()).toThrow('does not run');
      expect(await store.start()).toBeGreaterThan(0);
      using after = new EtcdClient(store.target);
      expect((await after.range({ key })).kvs).toHaveLength(1);
    }
  }
  expect(existsSync(folder)).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
});

test('a store that cannot start says why', async () => {
  await expect(Store.start('engram', folder, ['--no-such-flag'])).rejects.toThrow(
    /ended at its start[\s\S]*no-such-flag/,
  );
});

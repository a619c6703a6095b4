import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HostedNodes } from '../../bench/support/hosted-nodes.ts';
import { compareBlocks, costRow } from '../../bench/support/paired-blocks.ts';
import { CollectorProcess } from '../../bench/tracing/collector-process.ts';
import { bounded } from '../support/bounded.ts';
import { EtcdClient } from '../support/etcd-client.ts';

const MAX_MS = 60_000;

test('each round is compared by itself, whatever the machine did from one to the next', () => {
  const plain = [
    [10, 100, 20],
    [50, 10, 10],
  ];
  const own = plain.map((blocks) => blocks.map((us) => 1.5 * us));
  const cost = compareBlocks(plain, own);
  expect(cost).toEqual({ more: 0.5, interval: { least: 0.5, most: 0.5 }, ofAll: 0.5, starts: [0.5, 0.5] });
  expect(costRow(own, cost)).toEqual(['15.0', '50.0 %', '50.0 % to 50.0 %', '50.0 %', '50.0 %, 50.0 %']);
  // One round that something else disturbed counts in the sum, and not in the median.
  own[1]![0] = 750;
  expect(compareBlocks(plain, own).more).toBe(0.5);
  expect(compareBlocks(plain, own).ofAll).toBeGreaterThan(3);
});

test('of two nodes in one process the one with the flags of traces sends spans to a collector in another', {
  timeout: 2 * MAX_MS,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'engram-bench-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await using collector = await CollectorProcess.start();
  const traced = [
    '--enable-distributed-tracing',
    `--distributed-tracing-address=${collector.address}`,
    '--distributed-tracing-sampling-rate=1000000',
  ];
  await using nodes = await HostedNodes.start(folder, [[], traced], { OTEL_BSP_SCHEDULE_DELAY: '10' });
  const before = nodes.cpuUs();
  for (const target of nodes.targets) {
    using client = new EtcdClient(target);
    await client.put({ key: Buffer.from('/key'), value: Buffer.from(target) });
  }
  const come = async (): Promise<void> => {
    while ((await collector.count('etcdserverpb.KV/Put')) === 0);
  };
  await bounded('a span of a put', MAX_MS, come());
  expect(await collector.count('etcdserverpb.KV/Put')).toBe(1);
  expect(await nodes.idleCpuUs()).toBeGreaterThan(before);
});

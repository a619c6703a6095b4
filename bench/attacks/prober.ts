/**
 * A modest client on a connection of its own: prober.ts TARGET INTERVAL_MS. Puts and gets a small key, the next one a while
 * after the answer to the last. On SIGTERM it prints its latencies as JSON: {"count","p50Ms","p99Ms","maxMs","failures"}.
 */
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { quantile } from '../support/statistics.ts';

const [target = '', intervalMs] = process.argv.slice(2);
using client = new EtcdClient(target, { deadlineMs: 120_000 });
const latencies: number[] = [];
let failures = 0;
let pendingMs = Number.NaN;

process.on('SIGTERM', () => {
  // What has no answer yet has taken at least so long.
  if (!Number.isNaN(pendingMs)) latencies.push(performance.now() - pendingMs);
  const [p50Ms, p99Ms, maxMs] = [quantile(latencies, 0.5), quantile(latencies, 0.99), quantile(latencies, 1)];
  console.log(JSON.stringify({ count: latencies.length, p50Ms, p99Ms, maxMs, failures }));
  process.exit(0);
});

await client.put({ key: Buffer.from('probe'), value: Buffer.from('v') });
console.log('probing');
for (let round = 0; ; round += 1) {
  pendingMs = performance.now();
  try {
    if (round % 2 === 0) await client.put({ key: Buffer.from('probe'), value: Buffer.from(`v${round}`) });
    else await client.range({ key: Buffer.from('probe') });
  } catch {
    failures += 1;
  }
  latencies.push(performance.now() - pendingMs);
  pendingMs = Number.NaN;
  await new Promise((resolve) => setTimeout(resolve, Number(intervalMs)));
}

/**
 * A modest client on its own connection: prober.ts TARGET INTERVAL_MS PID. Puts and gets a small key, and waits INTERVAL_MS
 * after each answer. On SIGTERM it prints its latencies as JSON (`Probed`). PID is the store's (`beginRequest`).
 */
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { quantile } from '../support/statistics.ts';
import { beginRequest, type Taken } from './core-time.ts';
import type { Probed } from './probed.ts';

const [target = '', intervalMs, pid] = process.argv.slice(2);
using client = new EtcdClient(target, { deadlineMs: 120_000 });
const requests: Taken[] = [];
let failures = 0;

let pending: (() => Taken) | undefined;
process.on('SIGTERM', () => {
  // A request without an answer has taken at least this long.
  if (pending !== undefined) requests.push(pending());
  const worst = requests.reduce((left, right) => (right.ms > left.ms ? right : left));
  const own = requests.map(({ ownMs }) => ownMs);
  const latencies = requests.map(({ ms }) => ms);
  const probed: Probed = {
    count: requests.length,
    p99Ms: quantile(latencies, 0.99),
    maxMs: worst.ms,
    ownP99Ms: quantile(own, 0.99),
    ownMaxMs: quantile(own, 1),
    worstCpuMs: worst.cpuMs,
    failures,
  };
  console.log(JSON.stringify(probed));
  process.exit(0);
});

await client.put({ key: Buffer.from('probe'), value: Buffer.from('v') });
console.log('probing');
for (let round = 0; ; round += 1) {
  pending = beginRequest(Number(pid));
  try {
    if (round % 2 === 0) await client.put({ key: Buffer.from('probe'), value: Buffer.from(`v${round}`) });
    else await client.range({ key: Buffer.from('probe') });
  } catch {
    failures += 1;
  }
  requests.push(pending());
  pending = undefined;
  await new Promise((resolve) => setTimeout(resolve, Number(intervalMs)));
}

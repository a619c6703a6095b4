/**
 * A modest client on a connection of its own: prober.ts TARGET INTERVAL_MS PID. Puts and gets a small key, the next one a
 * while after the answer to the last. On SIGTERM it prints its latencies as JSON, see `Probed`.
 *
 * A busy machine makes a client wait, too. So the kernel is asked for each request how long the first thread of PID, which is
 * the event loop of a node, and the thread here were ready to run and had no core: what is left is the store's own.
 */
import { readFileSync } from 'node:fs';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { quantile } from '../support/statistics.ts';
import type { Probed } from './probed.ts';

interface Scheduled {
  readonly ranMs: number;
  readonly waitedMs: number;
}
interface Request {
  readonly ms: number;
  readonly ownMs: number;
  readonly cpuMs: number;
}

const [target = '', intervalMs, pid] = process.argv.slice(2);
using client = new EtcdClient(target, { deadlineMs: 120_000 });
const requests: Request[] = [];
let failures = 0;

/** Of the first thread, since it began. */
function scheduled(of: string): Scheduled {
  try {
    const [ranNs, waitedNs] = readFileSync(`/proc/${of}/schedstat`, 'utf8').split(' ');
    return { ranMs: Number(ranNs) / 1e6, waitedMs: Number(waitedNs) / 1e6 };
  } catch {
    return { ranMs: Number.NaN, waitedMs: Number.NaN }; // it has ended
  }
}

function begin(): () => Request {
  const [store, own, startMs] = [scheduled(`${pid}`), scheduled('self'), performance.now()];
  return () => {
    const ms = performance.now() - startMs;
    const [storeNow, ownNow] = [scheduled(`${pid}`), scheduled('self')];
    const cpuMs = storeNow.ranMs - store.ranMs;
    const waitedMs = storeNow.waitedMs - store.waitedMs + ownNow.waitedMs - own.waitedMs;
    return { ms, cpuMs, ownMs: Math.max(Math.min(cpuMs, ms), ms - waitedMs) };
  };
}

let pending: (() => Request) | undefined;
process.on('SIGTERM', () => {
  // What has no answer yet has taken at least so long.
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
  pending = begin();
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

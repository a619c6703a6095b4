import { inspectStorage } from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import type { ClusterConfig } from './cluster/cluster-config.ts';
import { SystemClock } from './system-clock.ts';
import { SystemRandom } from './system-random.ts';

const TIMEOUT_MS = 30_000;

/** The cluster's data in TiKV, as JSON text. Changes nothing. */
export async function storageText({ pdEndpoints, tikvTls, prefix }: ClusterConfig): Promise<string> {
  await using client = await TikvClient.connect({
    pdAddresses: pdEndpoints,
    tls: tikvTls,
    timeoutMs: TIMEOUT_MS,
    clock: new SystemClock(),
    random: new SystemRandom(),
    requestSource: 'engram',
  });
  const { signal } = new AbortController();
  const report = await inspectStorage({ client, prefix, signal, timeoutMs: TIMEOUT_MS });
  return `${JSON.stringify(report, undefined, 2)}\n`;
}

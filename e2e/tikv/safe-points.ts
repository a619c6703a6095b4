import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { quiet, realClock, realRandom } from '@engram/sim';
import { LogKeys, openRoot, openTikvStorage, type TikvStorage } from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import { physicalMs, shiftTimestamp, type Timestamp } from '@engram/tso';
import { type Checks, expectEqual } from './check.ts';
import type { Lab } from './lab.ts';

const RETENTION_MS = 4_000;
/** The interval of the collector, and the time that one round of it may take. */
const INTERVAL_MS = 2_000;
const LOOK_MS = 200;
const never = new AbortController().signal;

/** The storage of a cluster's leader, which moves TiKV's safe point. */
async function cluster(client: TikvClient, prefix: string): Promise<TikvStorage> {
  const keys = new LogKeys(prefix);
  const root = await openRoot({ client, keys, found: { clusterId: 1n, members: [] }, timeoutMs: 60_000 });
  return await openTikvStorage({
    readTimeoutMs: 60_000,
    client,
    prefix,
    root,
    clock: realClock,
    random: realRandom,
    logger: quiet,
    local: { kind: 'memory' },
    safePoint: { retentionMs: RETENTION_MS, intervalMs: INTERVAL_MS },
  });
}

/** Lets `ms` pass. Each cluster meanwhile collects garbage as a member does every few seconds. */
async function pass(ms: number, clusters: readonly TikvStorage[]): Promise<void> {
  for (const endMs = performance.now() + ms; performance.now() < endMs; await sleep(LOOK_MS))
    for (const { image } of clusters) await image.collectGarbage!(never);
}

/** Reads a path of PD's HTTP interface. */
function askPd(address: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(`http://${address}${path}`, (answer) => {
      let body = '';
      answer.on('data', (bytes: Buffer) => (body += bytes.toString()));
      answer.on('end', () => resolve(body));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** Checks how clusters move TiKV's safe point on a real PD, while other services hold it back or move it themselves. */
export async function safePoints(checks: Checks, lab: Lab): Promise<void> {
  await using client = await TikvClient.connect({ pdAddresses: lab.pdAddresses });
  const now = (): Promise<Timestamp> => client.timestamp();
  const behindMs = async (): Promise<number> => physicalMs(await now()) - physicalMs(await client.gc.safePoint());
  await using one = await cluster(client, 'gc-one');
  await using two = await cluster(client, 'gc-two');
  const both = [one, two];

  await checks.check('safe point: with two clusters it follows the time, behind what both keep', async () => {
    await pass(3 * RETENTION_MS, both);
    const first = await client.gc.safePoint();
    await pass(2 * RETENTION_MS, both);
    const second = await client.gc.safePoint();
    if (first === 0n || second <= first) throw new Error(`it stands still: ${first}, ${second}`);
    const behind = await behindMs();
    if (behind < RETENTION_MS) throw new Error(`it is only ${behind} ms behind`);
    if (behind > RETENTION_MS + 5 * INTERVAL_MS) throw new Error(`it is ${behind} ms behind`);
    const seen = await askPd(lab.pdDirect[0]!, '/pd/api/v1/gc/safepoint');
    for (const prefix of ['gc-one', 'gc-two'])
      if (!seen.includes(Buffer.from(prefix).toString('hex')))
        throw new Error(`PD does not know of ${prefix}: ${seen}`);
    return `${behind} ms behind the time at ${RETENTION_MS} ms kept`;
  });

  await checks.check('safe point: what another service holds is not passed, until it lets go', async () => {
    const held = await now();
    await client.gc.hold('backup', held, 60);
    await pass(3 * RETENTION_MS, both);
    const stopped = await client.gc.safePoint();
    if (stopped > held) throw new Error(`${stopped} is above ${held}, which is held`);
    await client.gc.release('backup');
    await pass(3 * RETENTION_MS, both);
    if ((await client.gc.safePoint()) <= held) throw new Error('it does not go on');
  });

  await checks.check('safe point: a cluster that keeps more holds it back for all', async () => {
    // As a leader that is alive and whose readers lag behind.
    const held = shiftTimestamp(await now(), -1);
    await client.gc.hold('engram/other', held, 15);
    await pass(2 * RETENTION_MS, both);
    const stopped = await client.gc.safePoint();
    if (stopped > held) throw new Error(`${stopped} is above ${held}, which is held`);
    // The holder has gone and no longer renews its hold, which expires by itself.
    await pass(15_000 + RETENTION_MS, both);
    if ((await client.gc.safePoint()) <= held) throw new Error('it does not go on');
  });

  await checks.check('safe point: it is left to another who moves it, and taken up when that one stops', async () => {
    // As TiDB's collector does. This cluster is new: it has not moved the safe point yet.
    await using third = await cluster(client, 'gc-three');
    const moved: Timestamp[] = [];
    for (const endMs = performance.now() + 2 * RETENTION_MS; performance.now() < endMs; await sleep(LOOK_MS)) {
      moved.push((await client.gc.collect(RETENTION_MS + 500)).safePoint);
      await third.image.collectGarbage!(never);
      expectEqual(await client.gc.safePoint(), moved.at(-1), 'safe point');
    }
    const last = moved.at(-1)!;
    await pass(3 * RETENTION_MS, [third]);
    if ((await client.gc.safePoint()) <= last) throw new Error('nobody moves it');
  });
}

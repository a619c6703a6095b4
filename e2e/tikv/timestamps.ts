import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { epoch, logPosition, type Seal } from '@engram/core';
import { quiet, realClock, realRandom } from '@engram/sim';
import { type LogBatch, StorageOpenError, StorageTimestampError } from '@engram/storage';
import { LogKeys, openRoot, openTikvStorage, type TikvStorage } from '@engram/storage-tikv';
import { encodeSeal } from '@engram/storage-tikv/testing';
import { isTikvError, TikvClient } from '@engram/tikv-client';
import { GrpcTransport, LatePd } from '@engram/tikv-client/testing';
import { type Checks, expectEqual } from './check.ts';
import type { Lab } from './lab.ts';

/** How far PD goes back, and how long the log was written to before that. */
const BACK_MS = 4_000;
const HOUR_MS = 3_600_000;
const never = new AbortController().signal;

const sealOf = (number: number): Seal => ({ epoch: epoch(number), holder: BigInt(number) });
const batchOf = (first: number): LogBatch => ({ first: logPosition(first), records: [Buffer.alloc(100, first)] });

/** Checks on real stores that nobody leads by timestamps that went back. Not through the strict proxy, which refuses them itself. */
export async function timestamps(checks: Checks, lab: Lab): Promise<void> {
  await checks.check('timestamps: PD goes back below what the log holds: starts and clients end by name', () =>
    wentBack(lab),
  );
  await checks.check('timestamps: a cluster that is restored beside a newer seal is not taken over', () =>
    newerSeal(lab),
  );
}

async function wentBack(lab: Lab): Promise<string> {
  const pd = new LatePd(new GrpcTransport(undefined));
  const prefix = randomUUID();
  await using running = await connect(lab, pd);
  await using leader = await open(running, prefix);
  await leader.log.seal(sealOf(1));
  await leader.log.append(batchOf(1), sealOf(1));
  await sleep(BACK_MS + 500);
  await leader.log.seal(sealOf(2));
  await leader.log.append(batchOf(2), sealOf(2));
  pd.backMs = BACK_MS;
  const behind = await running.timestamp().catch((error: unknown) => error);
  if (!isTikvError(behind, 'timestamp-regression')) throw new Error(`a running client: ${String(behind)}`);
  await using after = await connect(lab, pd);
  const refused = await open(after, prefix).catch((error: unknown) => error);
  const cause = refused instanceof StorageOpenError ? refused.cause : refused;
  if (!(cause instanceof StorageTimestampError)) throw new Error(`a start: ${String(refused)}`);
  if (cause.birth === undefined || cause.timestamp > cause.birth) throw new Error(`other values: ${cause.message}`);
  await sleep(BACK_MS + 500);
  await using later = await open(after, prefix);
  expectEqual(await later.log.seal(sealOf(3)), 3, 'the end of the log, when PD has passed it');
  expectEqual(await count(later), 2, 'the records then');
  if ((await running.timestamp()) <= cause.birth) throw new Error('a running client goes on too early');
  return cause.message;
}

async function newerSeal(lab: Lab): Promise<string> {
  const prefix = randomUUID();
  await using client = await connect(lab, new GrpcTransport(undefined));
  await using storage = await open(client, prefix);
  await storage.log.seal(sealOf(1));
  const birth = (await client.timestamp()) + (BigInt(HOUR_MS) << 18n);
  const txn = await client.begin();
  const owner = { seal: sealOf(7), opener: 5n, begin: undefined, birth };
  txn.put(new LogKeys(prefix).seal(2), encodeSeal(owner));
  await txn.commit();
  const refused = await storage.log.seal(sealOf(8)).catch((error: unknown) => error);
  if (!(refused instanceof StorageTimestampError)) throw new Error(`a takeover: ${String(refused)}`);
  expectEqual(refused.birth, birth, 'the birth in the refusal');
  return refused.message;
}

function connect(lab: Lab, transport: GrpcTransport | LatePd): Promise<TikvClient> {
  return TikvClient.connect({ pdAddresses: lab.pdDirect, transport });
}

async function open(client: TikvClient, prefix: string): Promise<TikvStorage> {
  const found = { clusterId: 1n, members: [] };
  const root = await openRoot({ client, keys: new LogKeys(prefix), found, timeoutMs: 10_000 });
  const parts = { clock: realClock, random: realRandom, logger: quiet };
  return await openTikvStorage({ client, prefix, root, local: { kind: 'memory' }, ...parts });
}

async function count(storage: TikvStorage): Promise<number> {
  let records = 0;
  for await (const batch of storage.log.read(logPosition(1), never)) records += batch.records.length;
  return records;
}

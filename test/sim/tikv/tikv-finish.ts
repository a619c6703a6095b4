import { quiet } from '@engram/sim';
import { openRoot, openTikvStorage } from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import { compareWithRecovery, finishMembers } from '../cluster/members-finish.ts';
import { keys, PREFIX } from './tikv-life.ts';
import { TikvWay } from './tikv-way.ts';
import type { TikvWorld } from './tikv-world.ts';

const TIMEOUT_MS = 30_000;

/** Ends the run: see `finishMembers`. A new node that starts from what the stores hold agrees as well. */
export async function finish(world: TikvWorld): Promise<void> {
  await finishMembers(world);
  const { settings, spareHost, stores, random, storesLog } = world;
  const process = spareHost.start();
  const { clock } = process;
  const way = new TikvWay({
    inner: stores.transport,
    process,
    random: random.fork('spare way'),
    delayMsMax: settings.logDelayMsMax,
  });
  const client = await TikvClient.connect({
    pdAddresses: stores.pdAddresses,
    transport: way,
    clock,
    random: process.random,
    timeoutMs: TIMEOUT_MS,
  });
  const root = await openRoot({ client, keys, found: undefined, timeoutMs: TIMEOUT_MS });
  const local = { kind: 'memory', bytesMax: settings.localBytesMax } as const;
  const parts = { client, prefix: PREFIX, root, local, clock, random: process.random, logger: quiet };
  const storage = await openTikvStorage(parts);
  await compareWithRecovery(world, storage, storesLog.sealed.epoch, 'the recovered store');
}

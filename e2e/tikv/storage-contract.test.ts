// Runs the contracts of the storage ports on real stores. suite.ts runs it, with PD's addresses in TIKV_PD.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '@engram/core';
import { realClock, realRandom } from '@engram/sim';
import { logContract, type StorageBed, valuesContract } from '@engram/storage/contract';
import { openSegmentStorage } from '@engram/storage-segment';
import {
  CheckpointMemory,
  type LocalOptions,
  LogKeys,
  openRoot,
  openTikvStorage,
  type TikvStorage,
} from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import { afterAll, beforeAll } from 'vitest';

const logger: Logger = { debug() {}, info() {}, warn() {}, error: (fields, message) => console.error(message, fields) };
const parts = { clock: realClock, random: realRandom, logger };

let client: TikvClient;
beforeAll(async () => {
  client = await TikvClient.connect({ pdAddresses: process.env['TIKV_PD']!.split(',') });
});
afterAll(() => client.close());

/** A test bed with its own prefix in the stores that all tests share. */
async function makeBed(kind: LocalOptions['kind']): Promise<StorageBed> {
  const prefix = `contract/${randomUUID()}`;
  const path = await mkdtemp(join(tmpdir(), 'engram-contract-'));
  const checkpoint = new CheckpointMemory();
  const opened: TikvStorage[] = [];
  const openStorage = (directory: string) => openSegmentStorage({ path: directory, ...parts, durability: 'none' });
  return {
    async open() {
      const found = { clusterId: 1n, members: [] };
      const root = await openRoot({ client, keys: new LogKeys(prefix), found, timeoutMs: 10_000 });
      const local: LocalOptions =
        kind === 'disk' ? { kind, path: join(path, 'copy'), openStorage } : { kind, checkpoint };
      const storage = await openTikvStorage({ client, prefix, root, local, ...parts });
      opened.push(storage);
      return storage;
    },
    async [Symbol.asyncDispose]() {
      for (const storage of opened) await storage[Symbol.asyncDispose]();
      await rm(path, { recursive: true, force: true });
    },
  };
}

logContract('real stores, with a copy', () => makeBed('disk'));
valuesContract('real stores, with a copy', () => makeBed('disk'));
logContract('real stores, without a disk', () => makeBed('memory'));
valuesContract('real stores, without a disk', () => makeBed('memory'));

import { NEW_RAFT_STATE } from '@engram/election';
import { raftStorageContract } from '@engram/election/contract';
import { Prng, realClock, realRandom, TestLogger } from '@engram/sim';
import { LogKeys, TikvRaftStorage } from '@engram/storage-tikv';
import { never } from '@engram/storage/testing';
import { expect, test } from 'vitest';
import { SimBed } from './sim-bed.ts';
import { TikvBed } from './tikv-bed.ts';

raftStorageContract('TiKV', async () => {
  const bed = await TikvBed.make({ local: 'memory' });
  const closing = new AbortController();
  return {
    open: async () =>
      new TikvRaftStorage({
        client: bed.client,
        keys: new LogKeys('raft-contract'),
        memberId: 7n,
        clock: realClock,
        random: realRandom,
        logger: new TestLogger(),
        signal: closing.signal,
      }),
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await bed[Symbol.asyncDispose]();
    },
  };
});

test('a state that was saved above the timestamps of PD waits for them, and the log says why', async () => {
  const bed = new SimBed();
  const logger = new TestLogger();
  const closing = new AbortController();
  const open = async (): Promise<TikvRaftStorage> => {
    const parts = {
      keys: bed.keys,
      memberId: 7n,
      clock: bed.clock,
      random: new Prng(3),
      logger,
      signal: closing.signal,
    };
    return new TikvRaftStorage({ client: await bed.client(), ...parts });
  };
  const before = await open();
  await bed.run(before.load());
  await bed.clock.pass(60_000);
  await bed.run(before.save({ hardState: NEW_RAFT_STATE.hardState, snapshot: undefined, entries: [] }));
  bed.cluster.pd.goBack(30_000);
  const behind = await open();
  let loaded: unknown;
  // It never takes the state that PD's timestamps show, with which it could vote a second time.
  const loading = behind.load().then((state) => {
    loaded = state;
  });
  await bed.clock.pass(20_000);
  expect(logger.warnings.filter((message) => message.startsWith('the timestamps of PD went back')).length).toBe(2);
  expect(loaded).toBeUndefined();
  expect(await bed.run(before.isOwned(never))).toBe(true);
  await bed.run(loading);
  expect(loaded).toEqual(NEW_RAFT_STATE);
});

test('a load waits while PD allocates timestamps below those that this client has seen', async () => {
  const bed = new SimBed();
  const closing = new AbortController();
  const parts = { keys: bed.keys, memberId: 7n, clock: bed.clock, random: new Prng(3), logger: new TestLogger() };
  const storage = new TikvRaftStorage({ client: await bed.client(), ...parts, signal: closing.signal });
  const loaded = await bed.run(storage.load());
  bed.cluster.pd.goBack(30_000);
  let again: unknown;
  const loading = storage.load().then((state) => {
    again = state;
  });
  await bed.clock.pass(20_000);
  expect(again).toBeUndefined();
  await bed.run(loading);
  expect(again).toEqual(loaded);
});

test('a process whose own state lies above the timestamps of PD does not take it for taken over', async () => {
  const bed = new SimBed();
  const closing = new AbortController();
  const parts = { keys: bed.keys, memberId: 7n, clock: bed.clock, random: new Prng(3), logger: new TestLogger() };
  const hardState = NEW_RAFT_STATE.hardState;
  const before = new TikvRaftStorage({ client: await bed.client(), ...parts, signal: closing.signal });
  await bed.run(before.load());
  await bed.clock.pass(60_000);
  // A read at the newest time, after which the stores write nothing below it.
  await bed.run((await bed.run((await bed.client()).snapshot())).get(bed.keys.raft(7n)));
  bed.cluster.pd.goBack(30_000);
  const random = new Prng(4);
  const storage = new TikvRaftStorage({ client: await bed.client(), ...parts, random, signal: closing.signal });
  await bed.run(storage.load());
  await bed.run(storage.save({ hardState, snapshot: undefined, entries: [] }));
  expect(await bed.run(storage.isOwned(never))).toBe(true);
  await expect(bed.run(before.isOwned(never))).resolves.toBe(false);
});

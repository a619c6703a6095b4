import { raftStorageContract } from '@engram/election/contract';
import { realClock, realRandom, TestLogger } from '@engram/sim';
import { LogKeys, TikvRaftStorage } from '@engram/storage-tikv';
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

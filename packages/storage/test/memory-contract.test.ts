import { MemoryDisk, MemoryStorage } from '@engram/storage';
import { logContract, type StorageBed, valuesContract } from '@engram/storage/contract';

async function makeBed(): Promise<StorageBed> {
  const disk = new MemoryDisk('the disk of a test');
  return {
    open: async () => new MemoryStorage({}, disk),
    [Symbol.asyncDispose]: async () => {},
  };
}

logContract('memory', makeBed);
valuesContract('memory', makeBed);

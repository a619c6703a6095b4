import { expect, test } from 'vitest';
import { raftStorageContract } from '../contract.ts';
import { MemoryRaftDisk, MemoryRaftStorage, NEW_RAFT_STATE } from '../index.ts';

raftStorageContract('memory', async () => {
  const disk = new MemoryRaftDisk();
  return { open: async () => new MemoryRaftStorage(disk), [Symbol.asyncDispose]: async () => {} };
});

const batch = {
  hardState: { ...NEW_RAFT_STATE.hardState, commit: NEW_RAFT_STATE.snapshot.index },
  snapshot: undefined,
  entries: [],
};

test('a save that was under way at the take-over changes nothing', async () => {
  const disk = new MemoryRaftDisk();
  const gate = Promise.withResolvers<void>();
  const old = new MemoryRaftStorage(disk, () => gate.promise);
  await old.load();
  const late = old.save(batch);
  await new MemoryRaftStorage(disk).load();
  gate.resolve();
  await expect(late).rejects.toMatchObject({ code: 'storage-taken-over' });
  expect(disk.bytes).toBeUndefined();
});

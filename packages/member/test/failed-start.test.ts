import { logPosition } from '@engram/core';
import { expect, test } from 'vitest';
import { TestCluster } from './cluster.ts';

test('a member that cannot read the log says so, and not that its storage was closed behind it', async () => {
  const cluster = new TestCluster([1n]);
  const ofLaterVersion = Uint8Array.of(99);
  cluster.log.append({ first: logPosition(1), records: [ofLaterVersion] }, cluster.log.sealed);
  await expect(cluster.start(1n)).rejects.toThrow('unknown kind 99');
  cluster.endStorage.abort(new Error('the client is closed'));
  expect(cluster.fatal).toEqual([]);
});

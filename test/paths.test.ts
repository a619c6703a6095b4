import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfiguration, startNode } from '@engram/server';
import { namedRooms, PassedRooms, quiet } from '@engram/sim';
import { expect, test } from 'vitest';
import { EtcdClient } from './support/etcd-client.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

test('the calls of one node pass the rooms that the picture names, and no other', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'engram-paths-'));
  const urls = ['--listen-client-urls=http://127.0.0.1:0', '--advertise-client-urls=http://127.0.0.1:0'];
  const configuration = await readConfiguration(['--data-dir', dataDir, ...urls], {});
  if (configuration.kind !== 'config') throw new Error(configuration.kind);
  const fatal: Error[] = [];
  const own = { onFatal: (error: Error) => void fatal.push(error), onRemoved: () => {} };
  const node = await startNode({ config: configuration.config, logger: quiet, ...own });
  try {
    const { address } = node.listeners[0]!;
    if (address.kind !== 'tcp') throw new Error(address.kind);
    using client = new EtcdClient(`127.0.0.1:${address.port}`);
    using rooms = await PassedRooms.begin();
    const putA = () => client.put({ key: bytes('a'), value: bytes('1') });
    await putA();
    await client.range({ key: bytes('a') });
    expect(await rooms.of(putA), 'put').toEqual(namedRooms('put'));
    expect(await rooms.of(() => client.range({ key: bytes('a') })), 'range').toEqual(namedRooms('range'));
    const watch = client.watch({ key: bytes('a') });
    await watch.next(); // it was created
    const event = async (): Promise<void> => {
      const next = watch.next();
      await putA();
      await next;
    };
    expect(await rooms.of(event), 'watch event').toEqual(expect.arrayContaining([...namedRooms('watch event')]));
    await watch.return(undefined);
    const { ID: lease } = await client.leaseGrant({ TTL: 1000 });
    expect(await rooms.of(() => client.leaseKeepAliveOnce(lease)), 'keep-alive').toEqual(namedRooms('keep-alive'));
    let at = 1;
    const compact = () => {
      at += 1;
      return client.compact({ revision: at, physical: true });
    };
    expect(await rooms.of(compact, 4), 'compaction').toEqual(namedRooms('compaction'));
    expect(fatal).toEqual([]);
  } finally {
    await node[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

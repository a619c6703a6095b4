import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Loopback } from '@engram/tikv-client/testing';
import { Collector } from '@engram/tracing/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { bounded } from '../support/bounded.ts';
import { EtcdClient } from '../support/etcd-client.ts';
import { type StorePlace, StoreProcess, newStorePlace } from '../support/store-process.ts';

const TRACE = 'a'.repeat(32);
const CLIENT_SPAN = 'b'.repeat(16);
const NAMES = ['m1', 'm2', 'm3'];
const MAX_MS = 60_000;

/** Three members on scripted stores, all behind sockets, whose spans go to one collector. */
async function startCluster(
  collector: Collector,
): Promise<readonly { readonly name: string; readonly place: StorePlace }[]> {
  const stores = await Loopback.start({ stores: 3 });
  const folder = mkdtempSync(join(tmpdir(), 'engram-tracing-'));
  const members = await Promise.all(
    NAMES.map(async (name) => ({ name, place: await newStorePlace(join(folder, name)) })),
  );
  const initial = members.map(({ name, place }) => `${name}=http://127.0.0.1:${place.peerPort}`).join();
  const processes = members.map(
    ({ name, place }) =>
      new StoreProcess(place, {
        flags: [
          `--name=${name}`,
          '--storage=tikv',
          `--tikv-pd-endpoints=${stores.pdAddresses.join()}`,
          `--initial-cluster=${initial}`,
          '--enable-distributed-tracing',
          `--distributed-tracing-address=${collector.address}`,
          `--distributed-tracing-instance-id=${name}`,
        ],
      }),
  );
  onTestFinished(async () => {
    await Promise.all(processes.map((one) => one[Symbol.asyncDispose]()));
    await stores[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  await Promise.all(processes.map((one) => one.ready()));
  return members;
}

test('a put through a follower, the leader and storage is one trace', { timeout: 2 * MAX_MS }, async () => {
  await using collector = await Collector.start();
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '100');
  onTestFinished(() => void vi.unstubAllEnvs());
  const members = await startCluster(collector);
  const clients = members.map(({ place }) => new EtcdClient(`127.0.0.1:${place.clientPort}`));
  onTestFinished(() => {
    for (const client of clients) client[Symbol.dispose]();
  });
  const statuses = await Promise.all(clients.map((client) => client.status()));
  const follower = statuses.findIndex(({ header, leader }) => header?.memberId !== leader);
  const key = Buffer.from('/registry/secrets/default/token');
  const headers = { traceparent: `00-${TRACE}-${CLIENT_SPAN}-01` };
  await clients[follower]!.put({ key, value: Buffer.from('v') }, headers);
  await clients[follower]!.put({ key, value: Buffer.from('w') }); // its client does not trace
  const ofTrace = (): readonly (typeof collector.spans)[number][] =>
    collector.spans.filter(({ traceId }) => traceId === TRACE);
  const whole = collector.until(
    () => ofTrace().some(({ parentId }) => parentId === CLIENT_SPAN) && ofTrace().length >= 6,
  );
  await bounded('the spans of a put', MAX_MS, whole);

  expect(collector.tree(TRACE)).toEqual([
    'etcdserverpb.KV/Put',
    '  put',
    '    forward',
    '      txn',
    '        append',
    '          tikv Prewrite',
  ]);
  const named = (name: string): (typeof collector.spans)[number] => ofTrace().find((span) => span.name === name)!;
  const instanceOf = (name: string): unknown => named(name).resource['service.instance.id'];
  expect(named('etcdserverpb.KV/Put').parentId).toBe(CLIENT_SPAN);
  expect(instanceOf('forward')).toBe(NAMES[follower]);
  expect(instanceOf('txn')).toBe(NAMES[statuses.findIndex(({ header, leader }) => header?.memberId === leader)]);
  const stages = ['queued', 'decided', 'appended', 'applied', 'published', 'answered'];
  expect(named('txn').events.map(({ name }) => name)).toEqual(stages);
  expect(named('put').attributes['key_scope']).toBe('/registry/secrets');
  expect(collector.received.some((bytes) => bytes.includes('token'))).toBe(false);
  // Nothing else was asked to be recorded: no other call, and no call of the members among themselves.
  expect(collector.spans.filter(({ traceId }) => traceId !== TRACE)).toEqual([]);
});
